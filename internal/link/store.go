package link

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/text"
)

const columns = `id, app_id, hostname, prefix, slug, folder_id, campaign_id, archived, starts_at, expires_at, max_clicks, expired_url, utm,
	title, description, image_url, desktop_url, play_store_url, app_store_url, app_path, parameters, web_only, behavior, link_group, origin,
	template_data, template_selection, image_asset_id, used_up, revision, created_at, updated_at, ` + publication.StateColumns

// selection reads links with the clicks of those that have a limit.
const selection = "SELECT " + columns + ", CASE WHEN max_clicks IS NOT NULL THEN COALESCE((SELECT clicks FROM " +
	"click_count WHERE link_id = link.id), 0) END FROM link"

// scan reads a link; url and state are left to finish.
func scan(r store.Row) (l Link, err error) {
	var utm, parameters, data, selection string
	var usedUp bool // queries filter by it; a link that was read has its clicks
	if err := r.Scan(&l.ID, &l.AppID, &l.Domain, &l.Prefix, &l.Slug, &l.FolderID, &l.CampaignID, &l.Lifecycle.Archived,
		&l.Lifecycle.StartsAt,
		&l.Lifecycle.ExpiresAt, &l.Lifecycle.MaxClicks, &l.Lifecycle.ExpiredURL, &utm,
		&l.Title, &l.Description, &l.ImageURL, &l.DesktopURL, &l.PlayStoreURL, &l.AppStoreURL, &l.AppPath, &parameters,
		&l.WebOnly, &l.Behavior, &l.Group, &l.Origin,
		&data, &selection, &l.imageAssetID, &usedUp, &l.Revision, &l.CreatedAt, &l.UpdatedAt,
		&l.Publication.Status, &l.Publication.ConfirmedRevision, &l.Publication.UpdatedAt,
		&l.Lifecycle.Clicks); err != nil {
		return l, err
	}
	l.Publication.DesiredRevision = l.Revision
	l.Parameters, l.TemplateData = opt.Object{Value: jsontext.Value(parameters)},
		opt.Object{Value: jsontext.Value(data)}
	if err = json.Unmarshal([]byte(utm), &l.UTM); err != nil {
		return l, err
	}
	var bindings binding.Bindings
	err = bindings.SetColumn(&selection)
	l.setBindings(bindings)
	return l, err
}

// load returns a link, or the refusal of a missing one.
func (s *Service) load(ctx context.Context, q store.Q, c *op.Call, id string) (Link, error) {
	l, err := op.Found(store.One(ctx, q, scan, selection+" WHERE id = ?", id))
	s.finish(&l, c)
	return l, err
}

// finish sets what is not stored.
func (s *Service) finish(l *Link, c *op.Call) {
	l.URL = s.addresses.URL(l.Domain, l.Prefix, l.Slug)
	l.State = l.Lifecycle.state(c.Now)
}

// AppOf implements op.AppFinder.
func AppOf(ctx context.Context, q store.Q, id string) (_ string, err error) {
	defer fault.Wrap(&err, "link.AppOf(%s)", id)
	return store.One(ctx, q, store.Value[string], "SELECT app_id FROM link WHERE id = ?", id)
}

// Titles returns the titles of those of some links of an app that are there and have
// one, by id.
func Titles(ctx context.Context, q store.Q, appID string, ids []string) (_ map[string]*string, err error) {
	defer fault.Wrap(&err, "link.Titles(%s, %d links)", appID, len(ids))
	args := []any{appID}
	for _, id := range ids {
		args = append(args, id)
	}
	titles := map[string]*string{}
	_, err = store.All(ctx, q, func(r store.Row) (none struct{}, err error) {
		var id, title string
		err = r.Scan(&id, &title)
		titles[id] = &title
		return none, err
	}, "SELECT id, title FROM link WHERE app_id = ? AND title IS NOT NULL AND id IN ("+store.Marks(len(ids))+")", args...)
	return titles, err
}

// encoded are the fields stored as JSON.
type encoded struct{ utm, selection string }

func encode(l *Link) (encoded, error) {
	utm, err := json.Marshal(l.UTM)
	if err != nil {
		return encoded{}, err
	}
	bindings := l.bindings()
	selection, err := bindings.Column()
	return encoded{string(utm), selection}, err
}

func searchText(l *Link) string {
	return text.Fold(opt.Text(l.Title), opt.Text(l.Description), l.Slug)
}

// insert stores a new link; an address that is taken is a conflict.
func insert(ctx context.Context, tx *store.Tx, l *Link) error {
	l.ID, l.Revision, l.CreatedAt, l.UpdatedAt = l.Domain+":"+ids.New(), ids.Revision(), tx.Now, tx.Now
	l.Publication = publication.State{Status: publication.Pending, DesiredRevision: l.Revision, UpdatedAt: tx.Now}
	e, err := encode(l)
	if err != nil {
		return err
	}
	n, err := tx.Exec(ctx, "INSERT INTO link ("+columns+", search, publication_attempts) VALUES ("+store.Marks(36)+
		", 0) ON CONFLICT (hostname, prefix, slug) DO NOTHING",
		l.ID, l.AppID, l.Domain, l.Prefix, l.Slug, l.FolderID, l.CampaignID, l.Lifecycle.Archived, l.Lifecycle.StartsAt,
		l.Lifecycle.ExpiresAt, l.Lifecycle.MaxClicks, l.Lifecycle.ExpiredURL, e.utm,
		l.Title, l.Description, l.ImageURL, l.DesktopURL, l.PlayStoreURL, l.AppStoreURL, l.AppPath,
		string(l.Parameters.Value), l.WebOnly, l.Behavior, l.Group, l.Origin,
		string(l.TemplateData.Value), e.selection, l.imageAssetID, l.Lifecycle.usedUp(), l.Revision, l.CreatedAt,
		l.UpdatedAt,
		l.Publication.Status, l.Publication.ConfirmedRevision, l.Publication.UpdatedAt, searchText(l))
	if err == nil && n == 0 {
		err = fault.New(fault.ResourceConflict, "A link with this domain, prefix and slug exists already. Choose "+
			"another slug.")
	}
	return err
}

// save stores the content of a link under a new revision, to be published.
func save(ctx context.Context, tx *store.Tx, l *Link) error {
	l.Revision, l.UpdatedAt = ids.Revision(), tx.Now
	l.Publication.Status, l.Publication.DesiredRevision, l.Publication.UpdatedAt = publication.Pending, l.Revision,
		tx.Now
	e, err := encode(l)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE link SET folder_id = ?, campaign_id = ?, archived = ?, starts_at = ?, expires_at = ?,
		max_clicks = ?, expired_url = ?, utm = ?,
		title = ?, description = ?, image_url = ?, desktop_url = ?, play_store_url = ?, app_store_url = ?, app_path = ?,
		parameters = ?, web_only = ?,
		behavior = ?, link_group = ?, template_data = ?, template_selection = ?, image_asset_id = ?, used_up = ?,
		revision = ?, updated_at = ?, search = ?,
		publication_status = 'pending', publication_attempts = 0, publication_error = NULL, publication_updated_at = ?
		WHERE id = ?`,
		l.FolderID, l.CampaignID, l.Lifecycle.Archived, l.Lifecycle.StartsAt, l.Lifecycle.ExpiresAt,
		l.Lifecycle.MaxClicks, l.Lifecycle.ExpiredURL, e.utm,
		l.Title, l.Description, l.ImageURL, l.DesktopURL, l.PlayStoreURL, l.AppStoreURL, l.AppPath,
		string(l.Parameters.Value), l.WebOnly,
		l.Behavior, l.Group, string(l.TemplateData.Value), e.selection, l.imageAssetID, l.Lifecycle.usedUp(),
		l.Revision, l.UpdatedAt, searchText(l), tx.Now, l.ID)
	return err
}

// count reads the clicks of a link again, under the limit that it has by now.
func count(ctx context.Context, q store.Q, l *Link) error {
	n, err := store.One(ctx, q, store.Value[int64], "SELECT clicks FROM click_count WHERE link_id = ?", l.ID)
	if errors.Is(err, store.ErrNotFound) { // no click yet
		err = nil
	}
	l.Lifecycle.count(n)
	return err
}
