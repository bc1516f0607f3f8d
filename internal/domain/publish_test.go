package domain_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// rename gives the app of an owner a name.
func rename(owner *apitest.Client, name string) {
	app := "/apps/" + owner.AppID
	owner.Call("PATCH", app, M{"name": name}, apitest.IfMatch(owner.Call("GET", app, nil).Revision())).Want(200)
}

// A change of an app has its own domains published again, and nobody else's.
func TestAppChangesAlone(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
		ours, others := domainOf(owner), domainOf(eve)
		fresh := create(t, i, owner, M{"mode": "external", "hostname": "go.example.org"}).Text("data.id")
		if _, err := i.DB.Exec(t.Context(), `UPDATE domain SET publication_status = 'failed', publication_confirmed = NULL
			WHERE id = ?`, fresh); err != nil {
			t.Fatal(err)
		}
		is := func(of *apitest.Client, path, want string) {
			t.Helper()
			of.Call("GET", path, nil).Want(200).Has("data.publication.status", `"`+want+`"`)
		}
		rename(owner, "Blue Shop")
		is(owner, ours, "pending")
		is(eve, others, "synced")
		is(owner, "/domains/"+fresh, "failed") // visitors do not know it
		i.Settle(t)
		is(owner, ours, "synced")
	})
}

// A first publication that has read the app when the app changes is followed by
// another one.
func TestAppChangesUnderFirstPublication(t *testing.T) {
	i := apitest.New(t, "postgres", apitest.Options{})
	owner := i.Prepared(t, "ann@example.com")
	id := strings.TrimPrefix(domainOf(owner), "/domains/")
	if _, err := i.DB.Exec(t.Context(), `UPDATE domain SET publication_confirmed = NULL,
		publication_status = 'pending' WHERE id = ?`, id); err != nil {
		t.Fatal(err)
	}
	i.WhilePublished(t, func() {
		if err := i.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error { return domain.Publish(t.Context(), tx, id) }); err != nil {
			t.Error(err)
		}
	}, func() { rename(owner, "Blue Shop") })
	i.Settle(t)
	document, err := store.One(t.Context(), i.DB, store.Value[string],
		"SELECT document FROM route WHERE hostname = ? AND path = ''", owner.Host)
	if err != nil || !strings.Contains(document, "Blue Shop") {
		t.Errorf("the redirector knows %s, %v", document, err)
	}
}

// Changes that follow each other are published together, until an attempt fails.
func TestAppChangesTogether(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		i.Settle(t)
		jobs := func(want int) {
			t.Helper()
			n, err := store.One(t.Context(), i.DB, store.Value[int], "SELECT COUNT(*) FROM job WHERE kind = 'domain.publish'")
			if err != nil || n != want {
				t.Errorf("%d jobs, want %d, %v", n, want, err)
			}
		}
		rename(owner, "Blue Shop")
		rename(owner, "Red Shop")
		jobs(1)
		if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET publication_attempts = 1"); err != nil {
			t.Fatal(err)
		}
		rename(owner, "Green Shop")
		jobs(2)
		i.Settle(t)
		owner.Call("GET", domainOf(owner), nil).Want(200).Has("data.publication.status", `"synced"`)
		rename(owner, "Shop")
		jobs(1)
	})
}

// A publication does not wait for what is done with another domain.
func TestPublishBesideAnother(t *testing.T) {
	i := apitest.New(t, "postgres", apitest.Options{}) // SQLite has one writer at a time
	owner, eve := i.Prepared(t, "ann@example.com"), i.Prepared(t, "eve@example.com")
	of := func(c *apitest.Client) string { return strings.TrimPrefix(domainOf(c), "/domains/") }
	ours, others := of(owner), of(eve)
	if err := i.DB.InTxReadCommitted(t.Context(), func(tx *store.Tx) error {
		if _, err := store.Exists(t.Context(), tx, "SELECT 1 FROM domain WHERE id = ?"+tx.Dialect().LockRow, others); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), storetest.Patience)
		defer cancel()
		return i.DB.InTxReadCommitted(ctx, func(tx *store.Tx) error { return domain.Publish(ctx, tx, ours) })
	}); err != nil {
		t.Error(err)
	}
}

// The publication of a domain that is gone is over without it.
func TestPublishWhatIsGone(t *testing.T) {
	apitest.Each(t, func(t *testing.T, i *apitest.Installation) {
		owner := i.Prepared(t, "ann@example.com")
		i.Settle(t)
		rename(owner, "Blue Shop")
		if _, err := i.DB.Exec(t.Context(), "DELETE FROM domain"); err != nil {
			t.Fatal(err)
		}
		i.Cycle(t)
		if left, err := store.Exists(t.Context(), i.DB, "SELECT 1 FROM job WHERE kind = 'domain.publish'"); left || err != nil {
			t.Errorf("a job is left: %t, %v", left, err)
		}
	})
}
