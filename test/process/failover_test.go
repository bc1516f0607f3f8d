package process_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
)

// administer runs a statement on a server, beside its databases.
func administer(t *testing.T, database, statement string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/postgres"
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// histories is an installation of two redirectors whose database can go back.
type histories struct {
	t           *testing.T
	api         *server
	redirectors []*server
	visitors    []*visitor
	owner       *owner
	// known are the versions of links before the database is copied.
	known map[string]link
}

func newHistories(t *testing.T, database string) *histories {
	h := &histories{t: t, known: map[string]link{}}
	h.api = serve(t, t.TempDir(), database, "--roles", "api,executor")
	for range 2 {
		s := serve(t, t.TempDir(), database, "--roles", "redirect")
		h.redirectors, h.visitors = append(h.redirectors, s), append(h.visitors, s.visitor(t))
	}
	h.owner = newOwner(t, h.api.client(h.api.token("owner@example.com")))
	for _, slug := range []string{"same", "changed", "removed"} {
		h.known[slug] = h.owner.create(t, slug)
		h.lead(slug, slug+"-0")
	}
	h.owner.limited(t, h.redirectors[0], "limited", 6)
	h.click("limited", 1)
	return h
}

// lead waits until both redirectors lead a link to a version; "" is nowhere.
func (h *histories) lead(slug, version string) {
	h.t.Helper()
	for n, v := range h.visitors {
		eventually(h.t, fmt.Sprintf("redirector %d leads %s to %q", n, slug, version), func() error {
			status, location := v.look(h.t, slug)
			if version == "" && status == 404 || version != "" && status == 302 && location == target(version) {
				return nil
			}
			return fmt.Errorf("%d to %q", status, location)
		})
	}
}

// click has n people follow a link through each redirector, who are let in.
func (h *histories) click(slug string, n int) {
	h.t.Helper()
	for _, v := range h.visitors {
		for range n {
			if status := v.follow(h.t, slug); status != 302 {
				h.t.Errorf("%s: %d", slug, status)
			}
		}
	}
	for _, s := range h.redirectors {
		s.loaded()
	}
}

// lose makes what the database is to lose: changes, and clicks on a limited link.
func (h *histories) lose() {
	h.t.Helper()
	h.owner.must(h.t, 200, change(h.known["changed"], "lost"))
	h.owner.must(h.t, 204, intent{method: "DELETE", path: "/links/" + url.PathEscape(h.known["removed"].ID),
		ifMatch: h.known["removed"].Revision})
	h.owner.create(h.t, "new")
	h.lead("changed", "lost")
	h.lead("removed", "")
	h.lead("new", "new-0")
	h.click("limited", 2) // all six
	for _, v := range h.visitors {
		eventually(h.t, "the limit holds", func() error {
			if status := v.follow(h.t, "limited"); status != 410 {
				return fmt.Errorf("status %d", status)
			}
			return nil
		})
	}
}

// check looks whether everything is as it was, and works.
func (h *histories) check() {
	h.t.Helper()
	h.lead("changed", "changed-0")
	h.lead("removed", "removed-0")
	h.lead("new", "")
	h.lead("same", "same-0")
	for n, v := range h.visitors {
		if status := v.follow(h.t, "limited"); status != 410 {
			h.t.Errorf("redirector %d lets more in than the limit: %d", n, status)
		}
	}
	eventually(h.t, "the API works", func() error {
		a, err := h.owner.call(h.owner.creation("afterwards", "afterwards-0"))
		if err == nil && a.status != 201 {
			err = errors.New(a.String())
		}
		return err
	})
	h.lead("afterwards", "afterwards-0")
}

// An older copy takes the place of the database below two redirectors that run on.
func TestOlderCopy(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]bool{"at once": false, "passed again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := addressOf(t, "postgres")
			g, address := behindGate(t, database)
			h := newHistories(t, address)
			u, err := url.Parse(database)
			if err != nil {
				t.Fatal(err)
			}
			current, copied := u.Path[1:], u.Path[1:]+"_copy"
			g.shut()
			administer(t, database, "CREATE DATABASE "+copied+" TEMPLATE "+current)
			g.open()
			h.lose()
			g.shut()
			administer(t, database, "DROP DATABASE "+current+" WITH (FORCE)")
			administer(t, database, "ALTER DATABASE "+copied+" RENAME TO "+current)
			if meanwhile { // before a redirector looks again, more is published than was lost
				other := serve(t, t.TempDir(), database, "--roles", "api,executor")
				o := *h.owner
				o.client = other.client(o.token)
				for i := range 12 {
					o.create(t, fmt.Sprint("other-", i))
				}
				db := open(t, "", database)
				eventually(t, "all publications are synced", func() error {
					if n := number(t, db, "SELECT COUNT(*) FROM link WHERE publication_status <> 'synced'"); n > 0 {
						return fmt.Errorf("%d links are left", n)
					}
					return nil
				})
				db.Close()
				other.terminate()
			}
			g.open()
			h.check()
		})
	}
}
