package dnsrecord_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/dnsrecord"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/store"
)

// retries lets failed attempts happen again until none is left.
func retries(t *testing.T, i *apitest.Installation) {
	t.Helper()
	for range 6 {
		i.Settle(t)
		i.Clock.Move(15 * time.Second)
	}
	i.Settle(t)
}

// What an executor that died had sent is neither sent twice nor taken for somebody
// else's, also when the owner changed the record meanwhile.
func TestExecutorDiesAfterTheProviderTook(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		dies := 0
		p.after = func() {
			if dies++; dies == 1 {
				panic("killed")
			}
		}
		first := owner.Call("POST", path, M{"type": "TXT", "name": "a", "value": "one"}).Want(201)
		i.Settle(t)
		p.has(t, "a."+host, "TXT", "one")
		if r := record(t, owner, path, first.Text("data.id")); r["status"] != "pending" {
			t.Errorf("after the death: %v", r)
		}
		before := p.replaced
		retries(t, i)
		if p.replaced != before {
			t.Error("the retry changed what was there already")
		}
		if r := record(t, owner, path, first.Text("data.id")); r["status"] != "ok" {
			t.Errorf("after the retry: %v", r)
		}

		dies = 0
		owner.Call("POST", path, M{"type": "TXT", "name": "a", "value": "two"}).Want(201)
		i.Settle(t)
		owner.Call("DELETE", path+"/"+first.Text("data.id"), nil, apitest.IfMatch(first.Revision())).Want(204)
		owner.Call("POST", path, M{"type": "TXT", "name": "a", "value": "three"}).Want(201)
		retries(t, i)
		p.has(t, "a."+host, "TXT", "two", "three")
		for _, r := range of(t, owner.Call("GET", path, nil)) {
			if r["status"] != "ok" {
				t.Errorf("not ok: %v", r)
			}
		}
	})
}

// A change of the owner while its set is applied is applied too.
func TestChangeWhileApplying(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		r := owner.Call("POST", path, M{"type": "A", "name": "www", "value": "198.51.100.1"}).Want(201)
		changes := 0
		p.after = func() {
			if changes++; changes == 1 {
				owner.Call("PATCH", path+"/"+r.Text("data.id"), M{"value": "198.51.100.2"},
					apitest.IfMatch(r.Revision())).Want(200)
			}
		}
		i.Settle(t)
		p.has(t, "www."+host, "A", "198.51.100.2")
		if r := record(t, owner, path, r.Text("data.id")); r["status"] != "ok" {
			t.Errorf("%v", r)
		}
		rows(t, i, "job", 0)
	})
}

// What somebody else changed at the provider is shown within an hour and left alone
// until the owner changes it here.
func TestDrift(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		r := owner.Call("POST", path, M{"type": "TXT", "name": "a", "value": "ours"}).Want(201)
		id, one := r.Text("data.id"), path+"/"+r.Text("data.id")
		i.Settle(t)
		p.set("a."+host, "TXT", "ours", "another's")
		i.Clock.Move(time.Hour - time.Second)
		sweep(t, i, p)
		i.Settle(t)
		if r := record(t, owner, path, id); r["status"] != "ok" {
			t.Errorf("looked at too early: %v", r)
		}
		i.Clock.Move(time.Second)
		sweep(t, i, p)
		i.Settle(t)
		shown := record(t, owner, path, id)
		if failure, _ := shown["lastError"].(map[string]any); shown["status"] != "wrong" ||
			fmt.Sprint(shown["observed"]) != "[another's ours]" || failure["code"] != "dns_records_changed" ||
			shown["revision"] != r.Revision() {
			t.Errorf("shown as %v", shown)
		}
		p.has(t, "a."+host, "TXT", "ours", "another's")

		// It changed once more than was shown: that is not replaced either.
		p.set("a."+host, "TXT", "newer")
		patched := owner.Call("PATCH", one, M{}, apitest.IfMatch(r.Revision())).Want(200).
			Has("data.status", `"pending"`)
		i.Settle(t)
		if r := record(t, owner, path, id); r["status"] != "wrong" || fmt.Sprint(r["observed"]) != "[newer]" {
			t.Errorf("shown as %v", r)
		}
		p.has(t, "a."+host, "TXT", "newer")
		owner.Call("PATCH", one, M{}, apitest.IfMatch(patched.Revision())).Want(200)
		i.Settle(t)
		p.has(t, "a."+host, "TXT", "ours")
		if r := record(t, owner, path, id); r["status"] != "ok" || r["lastError"] != nil {
			t.Errorf("resolved as %v", r)
		}

		// It also ends when somebody restores what was there.
		p.set("a."+host, "TXT")
		look(t, i, p)
		if r := record(t, owner, path, id); r["status"] != "wrong" || fmt.Sprint(r["observed"]) != "[]" {
			t.Errorf("shown as %v", r)
		}
		p.set("a."+host, "TXT", "ours")
		look(t, i, p)
		if r := record(t, owner, path, id); r["status"] != "ok" {
			t.Errorf("restored as %v", r)
		}
	})
}

// look has every set looked at, and applied where something is to be done.
func look(t *testing.T, i *apitest.Installation, p *provider) {
	t.Helper()
	i.Clock.Move(time.Hour)
	if err := sweep(t, i, p); err != nil {
		t.Error(err)
	}
	i.Settle(t)
}

// sweep runs the sweep of the package.
func sweep(t *testing.T, i *apitest.Installation, p *provider) error {
	part := dnsrecord.Register(op.New(op.Options{Log: slog.New(slog.DiscardHandler)}), p)
	_, err := part.Sweeps[0].Run(t.Context(), i.DB, 1000)
	return err
}

// A name that has records at the provider already is not overwritten.
func TestRecordsThatWereThere(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		p.set("old."+host, "TXT", "theirs")
		r := owner.Call("POST", path, M{"type": "TXT", "name": "old", "value": "ours"}).Want(201)
		i.Settle(t)
		p.has(t, "old."+host, "TXT", "theirs")
		if r := record(t, owner, path, r.Text("data.id")); r["status"] != "wrong" ||
			fmt.Sprint(r["observed"]) != "[theirs]" {
			t.Errorf("shown as %v", r)
		}
		// Whoever deletes the record after seeing that removes all of it.
		owner.Call("DELETE", path+"/"+r.Text("data.id"), nil, apitest.IfMatch(r.Revision())).Want(204)
		i.Settle(t)
		p.has(t, "old."+host, "TXT")
	})
}

// A provider that is away delays a change, then makes it wrong, and later gets it.
func TestProviderAway(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		p.away = errAway
		r := owner.Call("POST", path, M{"type": "TXT", "name": "a", "value": "one"}).Want(201)
		i.Settle(t)
		if r := record(t, owner, path, r.Text("data.id")); r["status"] != "pending" {
			t.Errorf("after one attempt: %v", r)
		}
		retries(t, i)
		shown := record(t, owner, path, r.Text("data.id"))
		failure, _ := shown["lastError"].(map[string]any)
		if shown["status"] != "wrong" || failure["code"] != "dns_provider_failed" ||
			strings.Contains(fmt.Sprint(failure), errAway.Error()) {
			t.Errorf("given up: %v", shown)
		}
		rows(t, i, "job", 0)
		// Changes go on being taken, whatever happens to them.
		for n := range 12 {
			r = owner.Call("PATCH", path+"/"+r.Text("data.id"), M{"value": fmt.Sprint(n)},
				apitest.IfMatch(r.Revision())).Want(200)
			i.Settle(t)
			i.Clock.Move(15 * time.Second)
		}
		retries(t, i)
		p.away = nil
		look(t, i, p)
		p.has(t, "a."+host, "TXT", "11")
		if r := record(t, owner, path, r.Text("data.id")); r["status"] != "ok" {
			t.Errorf("at last: %v", r)
		}
	})
}

// While the provider is away a look changes nothing, and each set waits for its next
// turn.
func TestLookAtProviderAway(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		p.away = errAway
		i.Clock.Move(time.Hour)
		// The sweep fails, which the log tells.
		if err := sweep(t, i, p); err == nil || !strings.Contains(err.Error(), errAway.Error()) {
			t.Errorf("the sweep: %v", err)
		}
		for _, r := range of(t, owner.Call("GET", path, nil)) {
			if r["status"] != "ok" {
				t.Errorf("%v", r)
			}
		}
		if err := sweep(t, i, p); err != nil {
			t.Errorf("the sweep after it: %v", err)
		}
		rows(t, i, "job", 0)
	})
}

// A set that another transaction changes at this moment is neither waited for nor looked at.
func TestLookBesideAChange(t *testing.T) {
	i, p := served(t, "postgres") // SQLite has one writer at a time
	hosted(t, i)
	i.Clock.Move(time.Hour)
	if err := i.DB.InTxReadCommitted(t.Context(), func(changing *store.Tx) error {
		_, err := changing.Exec(t.Context(), "UPDATE dns_record_set SET checked_at = ? WHERE id = (SELECT MIN(id) FROM dns_record_set)",
			changing.Now.Add(time.Second))
		if err != nil {
			return err
		}
		return sweep(t, i, p)
	}); err != nil {
		t.Error(err)
	}
	rows(t, i, "dns_record_set WHERE checked_at > (SELECT MIN(checked_at) FROM dns_record_set)", 1)
	rows(t, i, fmt.Sprintf("dns_record_set WHERE checked_at < %d", i.DB.Now()), 0)
}

// The records of the installation follow what it needs. One that was changed at the
// provider is put back when it is needed the next time after that was shown.
func TestSystemRecords(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		id := strings.Split(path, "/")[2]
		before := of(t, owner.Call("GET", path, nil))
		ensure(t, i, id, system...)
		if after := of(t, owner.Call("GET", path, nil)); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("the same need changed %v to %v", before, after)
		}
		rows(t, i, "job", 0)
		moved := append(slices.Clone(system[:1]), dnsrecord.System{Type: dnsrecord.A, Name: "@", Value: "192.0.2.81"},
			dnsrecord.System{Type: dnsrecord.AAAA, Name: "@", Value: "2001:db8::81"})
		ensure(t, i, id, moved...)
		i.Settle(t)
		p.has(t, host, "A", "192.0.2.81")
		p.has(t, host, "AAAA", "2001:db8::81")
		p.set(host, "A", "203.0.113.9")
		ensure(t, i, id, moved...)
		i.Settle(t)
		p.has(t, host, "A", "203.0.113.9")
		look(t, i, p)
		p.has(t, host, "A", "203.0.113.9")
		ensure(t, i, id, moved...)
		i.Settle(t)
		p.has(t, host, "A", "192.0.2.81")
	})
}

// removeAll does what a detachment does.
func removeAll(t *testing.T, i *apitest.Installation, id string) {
	t.Helper()
	if err := i.DB.InTx(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(t.Context(), "UPDATE domain SET detached = TRUE WHERE id = ?", id); err != nil {
			return err
		}
		return dnsrecord.RemoveAll(t.Context(), tx, id)
	}); err != nil {
		t.Fatal(err)
	}
}

// remaining fails the test unless so many sets are still to be removed.
func remaining(t *testing.T, i *apitest.Installation, id string, left, failed int64) {
	t.Helper()
	if l, f, err := dnsrecord.Remaining(t.Context(), i.DB, id); l != left || f != failed || err != nil {
		t.Errorf("%d sets remain, %d failed, want %d, %d: %v", l, f, left, failed, err)
	}
}

// All records of a domain go, and what somebody else put beside them stays.
func TestRemoveAll(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		id := strings.Split(path, "/")[2]
		owner.Call("POST", path, M{"type": "TXT", "name": "a", "value": "ours"}).Want(201)
		i.Settle(t)
		p.set("a."+host, "TXT", "ours", "theirs")
		p.away = errAway
		removeAll(t, i, id)
		remaining(t, i, id, 3, 0)
		retries(t, i)
		remaining(t, i, id, 3, 3)
		p.away = nil
		removeAll(t, i, id)
		i.Settle(t)
		remaining(t, i, id, 0, 0)
		p.has(t, host, "A")
		p.has(t, "_waymark-challenge."+host, "TXT")
		p.has(t, "a."+host, "TXT", "theirs")
		owner.Call("POST", path, M{"type": "TXT", "name": "b", "value": "x"}).Refused(fault.ResourceConflict)
	})
}

// A hostname that comes into other hands before all of its old records are gone: the
// new records take the place of the old ones, and none is removed as an old one.
func TestHostnameInOtherHands(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		id := strings.Split(path, "/")[2]
		owner.Call("POST", path, M{"type": "TXT", "name": "a", "value": "old"}).Want(201)
		owner.Call("POST", path, M{"type": "TXT", "name": "b", "value": "old"}).Want(201)
		i.Settle(t)
		p.away = errAway
		removeAll(t, i, id)
		retries(t, i)

		eve := i.Prepared(t, "eve@example.com")
		id = claim(t, i, eve, host)
		prove(t, i, id)
		path = "/domains/" + id + "/dns-records"
		eve.Call("POST", path, M{"type": "TXT", "name": "a", "value": "new"}).Want(201)
		p.away = nil
		retries(t, i)
		look(t, i, p)
		p.has(t, "a."+host, "TXT", "new")
		p.has(t, "b."+host, "TXT")
		p.has(t, host, "A", "192.0.2.80")
		for _, r := range of(t, eve.Call("GET", path, nil)) {
			if r["status"] != "ok" {
				t.Errorf("%v", r)
			}
		}
	})
}

// A domain that is purged takes its records along, and their jobs end.
func TestDomainPurged(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		owner.Call("POST", path, M{"type": "TXT", "name": "a", "value": "x"}).Want(201)
		if _, err := i.DB.Exec(t.Context(), "DELETE FROM domain WHERE hostname = ?", host); err != nil {
			t.Fatal(err)
		}
		i.Settle(t)
		for _, table := range []string{"dns_record", "dns_record_set", "job"} {
			rows(t, i, table, 0)
		}
	})
}
