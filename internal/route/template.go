package route

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/maypok86/otter/v2"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/store"
)

// TemplateVersion is the document of a version of a page template. It is never
// changed.
type TemplateVersion struct {
	AppID  string       `json:"app"`
	Base   binding.Base `json:"base"`
	Config page.Config  `json:"config"`
	// Logo is the image of the configuration as a data URI.
	Logo string `json:"logo,omitempty"`
}

// PutTemplate publishes a version of a template, unless it is published already.
// What names it must be published after tx.
func PutTemplate(ctx context.Context, tx *store.Tx, id string, version int64, v TemplateVersion) (err error) {
	defer fault.Wrap(&err, "route.PutTemplate(%s, %d)", id, version)
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO route_template (template_id, version, document) VALUES (?, ?, ?)
		ON CONFLICT (template_id, version) DO NOTHING`, id, version, string(text))
	return err
}

// templateCapacity bounds the memory for templates that are ready to be rendered.
const templateCapacity = 16 << 20

// templates holds the versions that were asked for, by their name in Templates.
// None of them changes, so none is ever read again while it is held.
type templates struct {
	held *otter.Cache[string, heldTemplate]
}

// heldTemplate is a version in memory; page is nil for one that does not exist, or
// that could not be read, which is held briefly.
type heldTemplate struct {
	appID string
	base  binding.Base
	page  *page.Template
	err   error
}

func newTemplates(capacity uint64) templates {
	return templates{otter.Must(&otter.Options[string, heldTemplate]{
		MaximumWeight: capacity,
		Weigher: func(name string, t heldTemplate) uint32 {
			if t.page == nil {
				return uint32(len(name) + 160)
			}
			return uint32(len(name) + 160 + t.page.Bytes())
		},
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, heldTemplate]) time.Duration {
			if e.Value.page == nil {
				return time.Second
			}
			return 24 * time.Hour
		}),
	})}
}

// Template returns a template by its name in App, for a link of an app. The official
// one is the answer for a version that is not known, belongs to another app or base,
// or cannot be read; an error tells that it could not. Many who ask at once share
// one read.
func (c *Cache) Template(ctx context.Context, base binding.Base, name, appID string) (*page.Template, error) {
	if name == binding.OfficialRef {
		return page.Official(base), nil
	}
	t, ok := c.templates.held.GetIfPresent(name)
	if !ok {
		var err error
		read := otter.LoaderFunc[string, heldTemplate](c.readTemplate)
		if t, err = c.templates.held.Get(ctx, strings.Clone(name), read); err != nil {
			return page.Official(base), fmt.Errorf("route.Template(%q): %w", name, err)
		}
	}
	if t.appID != appID || t.base != base { // one that was not found has neither
		return page.Official(base), t.err
	}
	return t.page, nil
}

// readTemplate gets a version from the database and makes it ready. That it cannot
// be read is a result, so that visitors do not wait for it one after the other.
func (c *Cache) readTemplate(ctx context.Context, name string) (heldTemplate, error) {
	chosen := binding.SelectionOf(name)
	if chosen.Mode != binding.Custom {
		return heldTemplate{}, nil
	}
	// Others wait for this read: it must not end with this visitor's patience.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
	defer cancel()
	v, err := c.templateVersion(ctx, *chosen.TemplateID, *chosen.Version)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return heldTemplate{}, nil
	case err != nil:
		return heldTemplate{err: fmt.Errorf("template %q: %w", name, err)}, nil
	}
	return heldTemplate{appID: v.AppID, base: v.Base, page: page.Compile(v.Base, v.Config, v.Logo)}, nil
}

// templateVersion reads a version, or returns store.ErrNotFound.
func (c *Cache) templateVersion(ctx context.Context, id string, version int64) (v TemplateVersion, err error) {
	if err := c.takeSlot(ctx); err != nil {
		return v, err
	}
	defer c.freeSlot()
	document, err := store.One(ctx, c.db, store.Value[string], `SELECT document FROM route_template
		WHERE template_id = ? AND version = ?`, id, version)
	if err == nil {
		err = json.Unmarshal([]byte(document), &v)
	}
	return v, err
}
