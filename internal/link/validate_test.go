package link

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/utm"
)

// A validation that cannot be made is no answer: neither when reading the creation fails, nor when it still
// cannot be read without what is known to be broken.
func TestNoValidation(t *testing.T) {
	failure := errors.New("reading failed")
	broken := fault.Invalid("/title", fault.ReasonTooLong, "it is too long")
	for _, want := range []error{failure, broken} {
		validate := (&Service{}).validator(func([]byte) (CreateLink, error) { return CreateLink{}, want })
		in := &struct{ Body ValidateLink }{ValidateLink{opt.Object{Value: jsontext.Value(`{"title":"x","webOnly":7}`)}}}
		if _, err := validate(context.Background(), nil, nil, in); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// What is broken is left out where it is, and nothing else; what has no such place stays as it is.
func TestWithout(t *testing.T) {
	const object = `{"a":{"b":1,"c":[{"d":1}]},"e":"text"}`
	for path, want := range map[string]string{
		"":          object,
		"/a":        `{"e":"text"}`,
		"/a/b":      `{"a":{"c":[{"d":1}]},"e":"text"}`,
		"/a/c/0/d":  object,
		"/a/x":      object,
		"/e":        `{"a":{"b":1,"c":[{"d":1}]}}`,
		"/e/within": object,
		"/x/y":      object,
	} {
		if got := without(jsontext.Value(object), strings.Split(path, "/")[1:]); string(got) != want {
			t.Errorf("without %s: %s, want %s", path, got, want)
		}
	}
}

// What cannot be written as JSON, or read again, is not stored, and not in part: each of these ends before it asks
// the database for anything.
func TestWhatCannotBeWritten(t *testing.T) {
	const no = "\xff"
	damaged := Link{Parameters: opt.Object{Value: jsontext.Value("!")}}
	selected := &Templates{link: Link{}}
	selected.bindings.Selections.Android = opt.NullOf(binding.Selection{Mode: binding.Custom, TemplateID: new(no)})
	_, parameters := encode(&Link{UTM: utm.UTM{Source: new(no)}})
	for name, err := range map[string]error{
		"rules":       saveRules(t.Context(), nil, "link", []Rule{{DestinationURL: no}}),
		"parameters":  parameters,
		"publication": enqueue(t.Context(), nil, projection{LinkID: no}, "app"),
		"campaign":    enqueuePage(t.Context(), nil, campaignPage{CampaignID: no}, "app"),
		"history":     record(t.Context(), nil, &Link{}, "updated", []string{no}),
		"templates":   selected.Save(t.Context(), nil),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	whole := Link{Parameters: opt.EmptyObject(), TemplateData: opt.EmptyObject()}
	for n, pair := range [][2]*Link{{&damaged, &whole}, {&whole, &damaged}} {
		if fields, err := changedFields(pair[0], pair[1]); err == nil {
			t.Errorf("%d: changed %v", n, fields)
		}
	}
	if fields, err := changedFields(&whole, &whole); err != nil || len(fields) > 0 {
		t.Errorf("changed %v, %v", fields, err)
	}
}
