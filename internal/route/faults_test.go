package route

import (
	"context"
	"log/slog"
	"testing"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Each statement that fails ends what it is part of with an error.
func TestFailedStatements(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, _ *clock.Clock) {
		inTx := func(f func(ctx context.Context, tx *store.Tx) error) func(context.Context) error {
			return func(ctx context.Context) error {
				return db.InTxReadCommitted(ctx, func(tx *store.Tx) error { return f(ctx, tx) })
			}
		}
		locked := func(f func(ctx context.Context, p *Publisher) error) func(context.Context) error {
			return inTx(func(ctx context.Context, tx *store.Tx) error {
				p, err := Lock(ctx, tx)
				if err != nil {
					return err
				}
				return f(ctx, p)
			})
		}
		publish(t, db, func(p *Publisher) error {
			if err := putLink(t.Context(), p, "a.example", "x", "r", Link{LinkID: "a.example:x"}); err != nil {
				return err
			}
			return p.PutHost(t.Context(), "a.example", "r", Host{DomainID: "d"})
		})
		putTemplate(t, db, "a", 1, "one")
		fresh := func() *Cache { return NewCache(db, slog.New(slog.DiscardHandler)) }
		for name, f := range map[string]func(context.Context) error{
			"put links": locked(func(ctx context.Context, p *Publisher) error {
				return putLink(ctx, p, "a.example", "x", "r", Link{LinkID: "a.example:x", DesktopURL: web})
			}),
			"put host": locked(func(ctx context.Context, p *Publisher) error {
				return p.PutHost(ctx, "a.example", "r", Host{DomainID: "d"})
			}),
			"remove": locked(func(ctx context.Context, p *Publisher) error {
				if err := putLink(ctx, p, "a.example", "gone", "r", Link{LinkID: "gone"}); err != nil {
					return err
				}
				return p.Remove(ctx, "a.example", "gone", "gone")
			}),
			"sweep": func(ctx context.Context) error { _, err := Sweep(ctx, db, 1); return err },
			"host":  func(ctx context.Context) error { _, err := fresh().Host(ctx, "a.example"); return err },
			"link":  func(ctx context.Context) error { _, err := fresh().Link(ctx, "a.example", "x"); return err },
			"links": func(ctx context.Context) error {
				_, err := fresh().Links(ctx, "a.example", []string{"a.example:x"})
				return err
			},
			"hosts": func(ctx context.Context) error { return new(hosts).load(ctx, db) },
			"template": func(ctx context.Context) error {
				_, err := fresh().Template(ctx, binding.IOS, "a@1", "app")
				return err
			},
			"put template": inTx(func(ctx context.Context, tx *store.Tx) error {
				return PutTemplate(ctx, tx, "b", 1, TemplateVersion{AppID: "app", Base: binding.IOS})
			}),
			"begin": func(ctx context.Context) error { return (&follower{cache: fresh()}).poll(ctx) },
			"step": func(ctx context.Context) error {
				c := fresh()
				f := follower{cache: c}
				if err := f.poll(t.Context()); err != nil {
					return err
				}
				destination(t, c, "x") // it is in memory, and changes
				put(t, db, "x", web)
				return f.poll(ctx)
			},
			"end": func(ctx context.Context) error {
				epoch, err := db.Epoch(t.Context())
				if err != nil {
					return err
				}
				f := follower{cache: fresh(), over: epoch}
				return f.poll(ctx)
			},
		} {
			t.Run(name, func(t *testing.T) { storetest.Faulty(t, f) })
		}
	})
}
