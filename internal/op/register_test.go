package op

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
	"github.com/waymarkhq/waymark/internal/store"
)

// picky is a text for the schema, and refuses to be read.
type picky string

func (*picky) UnmarshalText([]byte) error { return errors.New("is one of those that are never right") }

type positioned struct {
	ID string `json:"id"`
}

func (p positioned) Position() cursor.Position { return cursor.Position{ID: p.ID} }

type pickyQuery struct {
	Name string `path:"name"`
	Q    picky  `query:"q"`
}

type pickyBody struct {
	Name string `path:"name"`
	Body struct {
		A picky `json:"a"`
	}
}

// What fits its schema and is no value of its Go type is refused by its name, whatever kind of operation takes it.
// The handler does not run.
func TestInputThatCannotBeRead(t *testing.T) {
	p := New(Options{Log: slog.New(slog.DiscardHandler)})
	ran := false
	o := func(id, method string) Op {
		return Op{ID: id, Method: method, Path: "/tags/{name}", Perm: "tags:update"}
	}
	Read(p, o("read", "GET"), func(context.Context, *Call, *pickyQuery) (Item[Nothing], error) {
		ran = true
		return Item[Nothing]{}, nil
	})
	List(p, o("list", "GET"), func(context.Context, *Call, *pickyQuery, Window) ([]positioned, error) {
		ran = true
		return nil, nil
	})
	Paged(p, o("paged", "GET"), func(context.Context, *Call, *pickyQuery, Window) (Page[Nothing], error) {
		ran = true
		return Page[Nothing]{}, nil
	})
	Bytes(p, o("bytes", "GET"), []string{"text/csv"}, func(context.Context, *Call, *pickyQuery) (File, error) {
		ran = true
		return File{}, nil
	})
	needs := o("write", "PATCH")
	needs.Needs = func(any) []string {
		ran = true
		return nil
	}
	Write(p, needs, func(context.Context, *Call, *store.Tx, *pickyBody) (Item[Nothing], error) {
		ran = true
		return Item[Nothing]{}, nil
	})
	Staged(p, o("staged", "PATCH"), func(context.Context, *Call, *pickyBody) (bool, error) {
		ran = true
		return true, nil
	}, func(context.Context, *Call, *store.Tx, *pickyBody, bool) (Item[Nothing], error) {
		return Item[Nothing]{}, nil
	})
	for _, r := range p.rows {
		c := &callContext{pipeline: p, row: r, ctx: t.Context(), path: map[string]string{"name": "x"},
			query: map[string]any{"q": "x"}, body: []byte(`{"a":"x"}`)}
		c.Actor = &actor.Actor{Type: actor.Human}
		attempts := map[string]func() error{"run": func() error { _, err := r.run(c); return err }}
		if r.decode != nil {
			attempts["needs"] = c.needs
		}
		if r.stage != nil {
			attempts = map[string]func() error{"stage": func() error { return r.stage(c) }}
		}
		code, path := fault.InvalidRequest, "query.q"
		if r.mutates {
			code, path = fault.ValidationFailed, "/a"
		}
		for name, attempt := range attempts {
			refusal, ok := fault.From(attempt())
			if !ok || refusal.Code != code || len(refusal.Details) != 1 || refusal.Details[0].Path != path || ran {
				t.Errorf("%s of %s: %+v; its handler ran: %t", name, r.ID, refusal, ran)
			}
			ran = false
		}
	}
	read := reader[struct {
		A picky `json:"a"`
	}](schema.ForRequests(), p.Log)
	_, err := read([]byte(`{"a":"x"}`))
	if refusal, ok := fault.From(err); !ok || refusal.Code != fault.ValidationFailed || len(refusal.Details) != 1 ||
		refusal.Details[0].Path != "/a" {
		t.Errorf("a body inside a body: %v", err)
	}
}

// The failure of a handler is that of its call, whatever kind of operation it has. So is that of a row that cannot be
// written.
func TestHandlersThatFail(t *testing.T) {
	type in struct{}
	p, failure := New(Options{Log: slog.New(slog.DiscardHandler)}), errors.New("failed")
	o := func(id, method string) Op { return Op{ID: id, Method: method, Path: "/tags", Perm: "tags:update"} }
	Read(p, o("read", "GET"), func(context.Context, *Call, *in) (Item[Nothing], error) { return Item[Nothing]{}, failure })
	List(p, o("list", "GET"), func(context.Context, *Call, *in, Window) ([]positioned, error) { return nil, failure })
	rows := func(context.Context, *Call, *in, Window) ([]positioned, error) {
		return []positioned{{ID: "\xff"}}, nil
	}
	List(p, o("row", "GET"), rows)
	ListOrFile(p, o("file", "GET"), []string{"text/csv"},
		func(context.Context, *Call, *in) (*File, error) { return nil, failure }, rows)
	Paged(p, o("paged", "GET"), func(context.Context, *Call, *in, Window) (Page[Nothing], error) {
		return Page[Nothing]{}, failure
	})
	Bytes(p, o("bytes", "GET"), []string{"text/csv"}, func(context.Context, *Call, *in) (File, error) {
		return File{}, failure
	})
	Write(p, o("write", "DELETE"), func(context.Context, *Call, *store.Tx, *in) (Item[Nothing], error) {
		return Item[Nothing]{}, failure
	})
	Staged(p, o("staged", "DELETE"), func(context.Context, *Call, *in) (bool, error) { return true, failure },
		func(context.Context, *Call, *store.Tx, *in, bool) (Item[Nothing], error) {
			return Item[Nothing]{}, failure
		})
	for _, r := range p.rows {
		c := &callContext{pipeline: p, row: r, ctx: t.Context(), query: map[string]any{"limit": 1.}}
		if r.stage != nil {
			if err := r.stage(c); !errors.Is(err, failure) {
				t.Errorf("the stage of %s: %v", r.ID, err)
			}
		}
		if _, err := r.run(c); err == nil || r.ID != "row" && !errors.Is(err, failure) {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
}

// Mistakes in the declaration of an operation end the program before it serves anything.
func TestMistakenDeclarations(t *testing.T) {
	type bare struct {
		Name string `path:"name"`
		Q    string
	}
	handle := func(context.Context, *Call, *struct{}) (Item[Nothing], error) { return Item[Nothing]{}, nil }
	for want, declare := range map[string]func(*Pipeline){
		"get: input field Q has neither a path nor a query tag": func(p *Pipeline) {
			Read(p, Op{ID: "get", Path: "/tags/{name}"}, func(context.Context, *Call, *bare) (Item[Nothing], error) {
				return Item[Nothing]{}, nil
			})
		},
		"get: the input has no path parameter id": func(p *Pipeline) { Read(p, Op{ID: "get", Path: "/tags/{id}"}, handle) },
		"operation get is declared twice": func(p *Pipeline) {
			Read(p, Op{ID: "get", Path: "/tags"}, handle)
			Read(p, Op{ID: "other", Path: "/tags"}, handle)
			Read(p, Op{ID: "get", Path: "/folders"}, handle)
		},
		"op: no tag for paths that begin with /nowhere": func(*Pipeline) { Op{Path: "/nowhere/{id}"}.tag() },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); got != want {
					t.Errorf("the panic is %q, want %q", got, want)
				}
			}()
			declare(New(Options{}))
		}()
	}
	if tag := (Op{Path: "/tags/{id}"}).tag(); !strings.EqualFold(tag, "tags") {
		t.Errorf("the tag of tags is %q", tag)
	}
}
