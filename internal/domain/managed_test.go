package domain_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/dnsprovider/dnstest"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// managedBy returns the options of an installation with a DNS provider.
func managedBy(p dnsprovider.Provider) domain.Options {
	return domain.Options{Provider: p, PerApp: 100, Nameservers: []string{"ns1.links.example", "ns2.links.example"},
		PlatformZone: apitest.Zone, Connection: domain.Connection{CNAME: "connect.links.example",
			Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.80"), netip.MustParseAddr("2001:db8::80")}}}
}

// proved marks the ownership of a domain as proved, and hosts its zone.
func proved(t *testing.T, i *apitest.Installation, o domain.Options, id string) (problem string) {
	t.Helper()
	if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET ownership = 'verified', verified_at = ? WHERE id = ?",
		i.DB.Now(), id); err != nil {
		t.Fatal(err)
	}
	problem, err := domain.HostZone(t.Context(), o, i.DB, id)
	if err != nil {
		t.Fatal(err)
	}
	return problem
}

// A managed hostname gets its records at a real server, follows its owner there, and
// leaves nothing of them behind when it is detached.
func TestManagedOnKnot(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			knot := dnstest.Knot(t, "zone.example.org")
			key, err := dnsprovider.ParseKey(dnstest.Key)
			if err != nil {
				t.Fatal(err)
			}
			o := managedBy(dnsprovider.NewRFC2136(knot.Address, key))
			i := apitest.New(t, engine, apitest.Options{Domains: o})
			owner := i.Prepared(t, "ann@example.com")
			const host = "go.zone.example.org"
			d := create(t, i, owner, M{"mode": "managed", "hostname": host}).Has("data.canManageDns", "true").
				Has("data.nameservers", `["ns1.links.example","ns2.links.example"]`)
			at := func(name, kind string, values ...string) {
				t.Helper()
				lines := knot.Records(t, name, kind)
				for n := range lines {
					lines[n] = lines[n][strings.Index(lines[n], "\t"+kind+"\t")+len(kind)+2:]
				}
				if fmt.Sprint(lines) != fmt.Sprint(values) {
					t.Errorf("%s %s is %q, want %q", name, kind, lines, values)
				}
			}
			at(host, "A")
			if problem := proved(t, i, o, d.Text("data.id")); problem != "" {
				t.Fatal(problem)
			}
			i.Settle(t)
			at(host, "A", "192.0.2.80")
			at(host, "AAAA", "2001:db8::80")
			at("_waymark-challenge."+host, "TXT", `"`+d.Text("data.challenge.value")+`"`)
			path := "/domains/" + d.Text("data.id")
			now := owner.Call("GET", path, nil).Want(200).Has("data.zoneName", `"zone.example.org"`)
			if now.Revision() != d.Revision() {
				t.Error("the zone gave the domain a new revision")
			}

			mail := owner.Call("POST", path+"/dns-records", M{"type": "MX", "name": "@", "value": "mail.example.net",
				"priority": 10}).Want(201)
			owner.Call("POST", path+"/dns-records", M{"type": "CNAME", "name": "*", "value": "shop.example.net"}).
				Want(201)
			long := strings.Repeat(`v="1"; `, 60)
			owner.Call("POST", path+"/dns-records", M{"type": "TXT", "name": "long._x", "value": long + "ü"}).Want(201)
			i.Settle(t)
			at(host, "MX", "10 mail.example.net.")
			at("any."+host, "CNAME", "shop.example.net.")
			all := owner.Call("GET", path+"/dns-records", nil).Want(200)
			for n := range all.Len("data") {
				all.Has(fmt.Sprintf("data.%d.status", n), `"ok"`)
			}
			one := path + "/dns-records/" + mail.Text("data.id")
			owner.Call("DELETE", one, nil, apitest.IfMatch(mail.Revision())).Want(204)
			i.Settle(t)
			at(host, "MX")

			detachNow(owner, now).Want(202)
			for range 3 {
				i.Settle(t)
				i.Clock.Move(time.Second)
			}
			owner.Call("GET", path, nil).Want(200).Has("data.removalState", `"removed"`)
			at(host, "A")
			at(host, "AAAA")
			at("any."+host, "CNAME")
			at("long._x."+host, "TXT")
			at("_waymark-challenge."+host, "TXT")
		})
	}
}

// away is a DNS provider that hosts a zone but takes no records while it is away.
type away struct{ away bool }

var errAway = errors.New("connection refused")

func (p *away) Zone(_ context.Context, hostname string) (string, error) {
	if strings.HasSuffix(hostname, ".nowhere.example.net") {
		return "", dnsprovider.ErrNoZone
	}
	return hostname, nil
}

func (p *away) Get(_ context.Context, _, name, kind string) (dnsprovider.Set, error) {
	if p.away {
		return dnsprovider.Set{}, errAway
	}
	return dnsprovider.Set{Name: name, Type: kind}, nil
}

func (p *away) Replace(context.Context, string, dnsprovider.Set, dnsprovider.Set) error { return nil }

// A zone that cannot be hosted is a problem that names what to do.
func TestZoneProblems(t *testing.T) {
	o := managedBy(&away{})
	i := apitest.New(t, "sqlite", apitest.Options{Domains: o})
	owner := i.Prepared(t, "ann@example.com")
	d := create(t, i, owner, M{"mode": "managed", "hostname": "go.nowhere.example.net"})
	noProvider, noAddresses := o, o
	noProvider.Provider, noAddresses.Connection.Addresses = nil, nil
	for want, o := range map[string]domain.Options{"no zone for go.nowhere.example.net": o, "--dns-provider": noProvider,
		"--connect-ips": noAddresses} {
		if problem := proved(t, i, o, d.Text("data.id")); !strings.Contains(problem, want) {
			t.Errorf("the problem is %q, not %s", problem, want)
		}
	}
}

// mute is a DNS provider that does not tell which zone hosts a name.
type mute struct{ away }

func (mute) Zone(context.Context, string) (string, error) { return "", errAway }

// That the provider could not be asked for a zone is an error, no problem of the owner: nothing is known of the zone, and no
// records are made.
func TestProviderIsNotAsked(t *testing.T) {
	o := managedBy(&mute{})
	i := apitest.New(t, "sqlite", apitest.Options{Domains: o})
	owner := i.Prepared(t, "ann@example.com")
	d := create(t, i, owner, M{"mode": "managed", "hostname": "go.example.org"})
	if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET verified_at = 1 WHERE id = ?", d.Text("data.id")); err != nil {
		t.Fatal(err)
	}
	if problem, err := domain.HostZone(t.Context(), o, i.DB, d.Text("data.id")); problem != "" || !errors.Is(err, errAway) {
		t.Errorf("the problem is %q, the error %v", problem, err)
	}
	owner.Call("GET", "/domains/"+d.Text("data.id"), nil).Want(200).Has("data.zoneName", `"go.example.org"`)
	if made, err := store.Exists(t.Context(), i.DB, "SELECT 1 FROM dns_record"); made || err != nil {
		t.Errorf("records were made: %t, %v", made, err)
	}
}

// A domain that is being detached gets no records any more.
func TestNoRecordsWhileDetached(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			o := managedBy(&away{})
			i := apitest.New(t, engine, apitest.Options{Domains: o})
			owner := i.Prepared(t, "ann@example.com")
			d := create(t, i, owner, M{"mode": "managed", "hostname": "go.example.org"})
			detachNow(owner, d).Want(202)
			if problem := proved(t, i, o, d.Text("data.id")); problem != "" {
				t.Error(problem)
			}
			if n, err := store.One(t.Context(), i.DB, store.Value[int64], "SELECT COUNT(*) FROM dns_record"); n != 0 ||
				err != nil {
				t.Errorf("%d records were made, %v", n, err)
			}
		})
	}
}

// The removal of a domain waits for its records. It fails when the provider does not
// remove them, and can be tried again.
func TestDetachWhileProviderAway(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			p := &away{}
			o := managedBy(p)
			i := apitest.New(t, engine, apitest.Options{Domains: o})
			owner := i.Prepared(t, "ann@example.com")
			d := create(t, i, owner, M{"mode": "managed", "hostname": "go.example.org"})
			path := "/domains/" + d.Text("data.id")
			proved(t, i, o, d.Text("data.id"))
			i.Settle(t)
			p.away = true
			detachNow(owner, d).Want(202)
			i.Settle(t)
			now := owner.Call("GET", path, nil).Want(200).Has("data.removalState", `"removing"`)
			// Not to know what is left there is a failed attempt.
			i.Clock.Move(time.Minute)
			rename := func(from, to string) {
				t.Helper()
				if _, err := i.DB.Exec(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
					t.Fatal(err)
				}
			}
			rename("dns_record_set", "gone")
			i.Cycle(t)
			rename("gone", "dns_record_set")
			if n, err := store.One(t.Context(), i.DB, store.Value[int64],
				"SELECT COUNT(*) FROM job WHERE kind = 'domain.detach' AND attempts = 1"); n != 1 || err != nil {
				t.Errorf("%d failed attempts, %v", n, err)
			}
			for range 60 {
				i.Settle(t)
				i.Clock.Move(3 * time.Second)
			}
			owner.Call("GET", path, nil).Want(200).Has("data.removalState", `"failed"`)
			p.away = false
			detachNow(owner, now).Want(202)
			for range 3 {
				i.Settle(t)
				i.Clock.Move(time.Second)
			}
			owner.Call("GET", path, nil).Want(200).Has("data.removalState", `"removed"`)
		})
	}
}

// A detachment ends with what is recorded of the removal, not without it.
func TestRemovalIsRecorded(t *testing.T) {
	o := managedBy(&away{away: true})
	i := apitest.New(t, "sqlite", apitest.Options{Domains: o})
	owner := i.Prepared(t, "ann@example.com")
	d := create(t, i, owner, M{"mode": "managed", "hostname": "go.example.org"})
	proved(t, i, o, d.Text("data.id"))
	i.Settle(t)
	started := detachNow(owner, d).Want(202)
	exec := func(statement string) {
		t.Helper()
		if _, err := i.DB.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TRIGGER recorded BEFORE UPDATE ON domain WHEN NEW.removal_state = 'failed'
		BEGIN SELECT RAISE(ABORT, 'it cannot be recorded'); END`)
	wait := func(want string) {
		t.Helper()
		for range 60 {
			i.Settle(t)
			i.Clock.Move(3 * time.Second)
		}
		owner.Call("GET", "/domains/"+d.Text("data.id"), nil).Want(200).Has("data.removalState", `"`+want+`"`)
	}
	wait("removing")
	exec("DROP TRIGGER recorded")
	wait("failed")
	owner.Call("GET", "/operations/"+started.Text("data.id"), nil).Want(200).Has("data.status", `"failed"`)
}

// zoned is a DNS provider that hosts one zone and takes records.
type zoned struct {
	away
	zone string
}

func (p *zoned) Zone(context.Context, string) (string, error) {
	if p.zone == "" {
		return "", dnsprovider.ErrNoZone
	}
	return p.zone, nil
}

// The verification of a managed domain tells whether its zone is hosted and delegated, and whether its records are seen.
func TestVerifyManaged(t *testing.T) {
	provider := &zoned{}
	o := managedBy(provider)
	o.Nameservers = []string{"ns.example.com"} // that of the zone
	eachWorld(t, apitest.Options{Domains: o}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		provider.zone = ""
		d := create(t, w.Installation, owner, M{"mode": "managed", "hostname": "go.example.com"})
		path := "/domains/" + d.Text("data.id")
		proof := d.Text("data.challenge.name") + ". TXT " + d.Text("data.challenge.value")
		owner.Call("GET", path+"/capabilities", nil).Want(200).Has("data.actions.dns", "false").Has("data.reasons.dns",
			`"The ownership is not proved yet. Add the record of the challenge and verify the domain."`)
		w.add(t, proof)
		w.verify(t, owner, path).Has("data.error.code", `"dns_misconfigured"`).Has("data.error.message",
			`"The DNS provider of this installation has no zone for go.example.com. Ask the operator to add it there, then `+
				`verify again."`)
		provider.zone = "example.com"
		const delegate = "Delegate example.com to the nameservers ns.example.com, then verify again."
		delegated := []string{`"ok"`, `"example.com is delegated to the nameservers of this installation."`}
		notDelegated := []string{`"warning"`, `"example.com is not delegated to the nameservers of this installation. ` + delegate + `"`}
		for _, c := range []struct {
			records   []string
			dns, zone []string
		}{
			{nil, []string{`"failed"`, `"The records of go.example.com were made and are not seen in the DNS yet. Verify again ` +
				`in a few minutes."`}, delegated},
			{[]string{"@ NS ns.other.example."}, []string{`"failed"`, `"The name go.example.com has no A or AAAA record. ` +
				delegate + `"`}, notDelegated},
			{[]string{"@ NS ns.other.example.", "go A 192.0.2.80"}, []string{`"ok"`,
				`"go.example.com leads to this installation."`}, notDelegated},
			{[]string{"go A 192.0.2.80"}, []string{`"ok"`, `"go.example.com leads to this installation."`}, delegated},
		} {
			w.replace(t, append(c.records, proof)...)
			w.verify(t, owner, path)
			owner.Call("GET", path+"/diagnostics", nil).Want(200).
				Has("data.checks.1.status", c.dns[0]).Has("data.checks.1.message", c.dns[1]).
				Has("data.checks.6.status", c.zone[0]).Has("data.checks.6.message", c.zone[1])
		}
		owner.Call("GET", path, nil).Want(200).Has("data.links", `"ready"`)
		owner.Call("GET", path+"/capabilities", nil).Want(200).Has("data.actions.dns", "true")
	})
}

// The verification of a managed domain waits half a minute for records that are not at the provider yet.
func TestVerifyWaitsForRecords(t *testing.T) {
	eachWorld(t, apitest.Options{Domains: managedBy(&zoned{zone: "example.com"})}, func(t *testing.T, w *world) {
		owner := w.Prepared(t, "ann@example.com")
		d := create(t, w.Installation, owner, M{"mode": "managed", "hostname": "go.example.com"})
		w.add(t, d.Text("data.challenge.name")+". TXT "+d.Text("data.challenge.value"))
		operation := "/operations/" + w.startVerification(t, owner, "/domains/"+d.Text("data.id")).Text("data.id")
		for at := range 30 {
			for n := 1; n > 0; {
				if _, err := w.DB.Exec(t.Context(), "UPDATE job SET run_after = ? WHERE kind = 'dnsrecord.apply'",
					w.Clock.Now().Add(time.Hour)); err != nil {
					t.Fatal(err)
				}
				n = w.Cycle(t)
			}
			if waits := owner.Call("GET", operation, nil).Want(200); waits.Value("data.status") != `"running"` {
				t.Fatalf("after %d seconds: %s", at, waits.Body)
			}
			w.Clock.Move(time.Second)
		}
		w.Cycle(t)
		owner.Call("GET", operation, nil).Want(200).Has("data.status", `"failed"`).Has("data.error.code", `"dns_misconfigured"`)
	})
}
