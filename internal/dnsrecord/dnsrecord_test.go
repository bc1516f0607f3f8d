package dnsrecord_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/fault"
)

// An owner adds, changes and deletes a record; each reaches the provider.
func TestRecordsReachTheProvider(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		p.has(t, host, "A", "192.0.2.80")
		p.has(t, "_waymark-challenge."+host, "TXT", "proof")

		key := apitest.NewKey()
		body := M{"type": "MX", "name": "Mail", "value": "MX1.Example.net.", "priority": 10}
		made := owner.Call("POST", path, body, apitest.Idempotent(key)).Want(201).Has("data.name", `"mail"`).
			Has("data.value", `"mx1.example.net"`).Has("data.ttl", "300").Has("data.priority", "10").
			Has("data.system", "false").Has("data.status", `"pending"`).Has("data.observed", "[]").
			Has("data.lastError", "null")
		id, one := made.Text("data.id"), path+"/"+made.Text("data.id")
		if made.Header.Get("Location") != "/v1"+one {
			t.Errorf("Location %s", made.Header.Get("Location"))
		}
		// A repeated call answers the same and adds nothing.
		owner.Call("POST", path, body, apitest.Idempotent(key)).Want(201).Has("data.id", `"`+id+`"`)
		i.Settle(t)
		p.has(t, "mail."+host, "MX", "10 mx1.example.net")
		if r := record(t, owner, path, id); r["status"] != "ok" ||
			fmt.Sprint(r["observed"]) != "[10 mx1.example.net]" || r["revision"] != made.Revision() {
			t.Errorf("applied: %v", r)
		}

		changed := owner.Call("PATCH", one, M{"value": "mx2.example.net"}, apitest.IfMatch(made.Revision())).Want(200).
			Has("data.status", `"pending"`).Has("data.value", `"mx2.example.net"`).Has("data.priority", "10")
		owner.Call("PATCH", one, M{"priority": 20}, apitest.IfMatch(made.Revision())).Refused(fault.RevisionConflict)
		owner.Call("DELETE", one, nil, apitest.IfMatch(made.Revision())).Refused(fault.RevisionConflict)
		owner.Call("PATCH", one, M{"priority": 20}, apitest.Header("If-Match", "")).Refused(fault.PreconditionRequired)
		i.Settle(t)
		p.has(t, "mail."+host, "MX", "10 mx2.example.net")

		owner.Call("DELETE", one, nil, apitest.IfMatch(changed.Revision())).Want(204)
		if record(t, owner, path, id) != nil {
			t.Error("a deleted record is listed")
		}
		owner.Call("DELETE", one, nil, apitest.IfMatch(changed.Revision())).Refused(fault.NotFound)
		i.Settle(t)
		p.has(t, "mail."+host, "MX")
		rows(t, i, "dns_record_set", 2) // those of the installation
	})
}

// All records of a name and type have one TTL.
func TestTTLIsOfTheSet(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		text := func(value string, more M) *apitest.Response {
			body := M{"type": "TXT", "name": "@", "value": value}
			for name, v := range more {
				body[name] = v
			}
			return owner.Call("POST", path, body).Want(201)
		}
		first := text("one", M{"ttl": 60})
		second := text("two", nil).Has("data.ttl", "60")
		i.Settle(t)
		before := p.replaced
		patched := owner.Call("PATCH", path+"/"+second.Text("data.id"), M{"ttl": 86400},
			apitest.IfMatch(second.Revision())).Want(200).Has("data.ttl", "86400")
		r := record(t, owner, path, first.Text("data.id"))
		if r["ttl"] != 86400.0 || r["revision"] == first.Revision() {
			t.Errorf("the other record: %v", r)
		}
		i.Settle(t)
		if got := p.sets[host+" TXT"]; got.TTL != 86400 || p.replaced != before+1 {
			t.Errorf("the provider has %+v after %d changes", got, p.replaced-before)
		}
		// What has no revision of its own to change keeps it.
		owner.Call("PATCH", path+"/"+second.Text("data.id"), M{"ttl": 86400},
			apitest.IfMatch(patched.Revision())).Want(200)
		if now := record(t, owner, path, first.Text("data.id")); now["revision"] != r["revision"] {
			t.Error("the same TTL gave the other record a new revision")
		}
		for _, ttl := range []any{59, 86401, "60"} {
			owner.Call("POST", path, M{"type": "TXT", "name": "x", "value": "x", "ttl": ttl}).
				Refused(fault.ValidationFailed, "/ttl")
		}
		// A set that begins anew has the default.
		once := owner.Call("POST", path, M{"type": "TXT", "name": "again", "value": "x", "ttl": 999}).Want(201)
		owner.Call("DELETE", path+"/"+once.Text("data.id"), nil, apitest.IfMatch(once.Revision())).Want(204)
		owner.Call("POST", path, M{"type": "TXT", "name": "again", "value": "x"}).Want(201).Has("data.ttl", "300")
	})
}

// What does not go together, or is not the owner's, is refused with the reason.
func TestConflicts(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		add := func(kind, name, value string) *apitest.Response {
			body := M{"type": kind, "name": name, "value": value}
			if kind == "MX" {
				body["priority"] = 10
			}
			return owner.Call("POST", path, body)
		}
		add("CNAME", "www", "shop.example.net").Want(201)
		add("CNAME", "www", "other.example.net").Refused(fault.ResourceConflict)
		add("TXT", "www", "x").Refused(fault.ResourceConflict)
		add("TXT", "WWW", "x").Refused(fault.ResourceConflict)
		add("TXT", "text", "x").Want(201)
		add("CNAME", "text", "shop.example.net").Refused(fault.ResourceConflict)
		add("TXT", "text", "x").Refused(fault.ResourceConflict)
		second := add("TXT", "text", "X").Want(201) // texts have letter case
		add("MX", "@", "mail.example.net").Want(201)
		owner.Call("POST", path, M{"type": "MX", "name": "@", "value": "MAIL.example.net", "priority": 20}).
			Refused(fault.ResourceConflict)
		owner.Call("PATCH", path+"/"+second.Text("data.id"), M{"value": "x"}, apitest.IfMatch(second.Revision())).
			Refused(fault.ResourceConflict)

		// The hostname itself is connected by the installation.
		add("A", "@", "198.51.100.1").Refused(fault.ResourceConflict)
		add("AAAA", "@", "2001:db8::1").Refused(fault.ResourceConflict)
		add("CNAME", "@", "shop.example.net").Refused(fault.ResourceConflict)
		add("NS", "@", "ns.example.net").Refused(fault.ValidationFailed, "/name")
		add("NS", "sub", "ns.example.net").Want(201)
		add("TXT", "_waymark-challenge", "x").Refused(fault.ValidationFailed, "/name")
		add("CNAME", "_acme-challenge", "x.example.net").Refused(fault.ValidationFailed, "/name")
		for _, r := range of(t, owner.Call("GET", path, nil)) {
			if r["system"] == true {
				one := path + "/" + r["id"].(string)
				owner.Call("PATCH", one, M{"ttl": 60}, apitest.IfMatch(r["revision"].(string))).
					Refused(fault.ResourceConflict)
				owner.Call("DELETE", one, nil, apitest.IfMatch(r["revision"].(string))).Refused(fault.ResourceConflict)
			}
		}

		// A name of another domain belongs to that one, as soon as it is proved.
		eve := i.Prepared(t, "eve@example.com")
		id := claim(t, i, eve, "deep.sub2."+host)
		add("TXT", "deep.sub2", "mine").Want(201)
		prove(t, i, id)
		add("TXT", "deep.sub2", "more").Refused(fault.ResourceConflict)
		add("TXT", "a.deep.sub2", "more").Refused(fault.ResourceConflict)
		add("TXT", "sub2", "more").Want(201)
	})
}

// A priority is for MX and SRV.
func TestPriority(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		add := func(kind, value string, priority any) *apitest.Response {
			return owner.Call("POST", path, M{"type": kind, "name": "_sip._tcp", "value": value, "priority": priority})
		}
		add("SRV", "5 5060 sip.example.net", nil).Refused(fault.ValidationFailed, "/priority")
		add("TXT", "x", 0).Refused(fault.ValidationFailed, "/priority")
		for _, priority := range []any{-1, 65536, 1.5} {
			add("SRV", "5 5060 sip.example.net", priority).Refused(fault.ValidationFailed, "/priority")
		}
		add("SRV", "5 5060 low.example.net", 65535).Want(201)
		r := add("SRV", "5 5060 sip.example.net", 0).Want(201)
		owner.Call("PATCH", path+"/"+r.Text("data.id"), M{"priority": nil}, apitest.IfMatch(r.Revision())).
			Refused(fault.ValidationFailed, "/priority")
		i.Settle(t)
		p.has(t, "_sip._tcp."+host, "SRV", "0 5 5060 sip.example.net", "65535 5 5060 low.example.net")
	})
}

// Only proved managed domains have records that change, and others do not see them.
func TestWhoseRecords(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner := i.Prepared(t, "ann@example.com")
		body := M{"type": "TXT", "name": "a", "value": "x"}
		first := owner.Call("GET", "/domains?appId="+owner.AppID, nil).Want(200).Text("data.0.id")
		platform := "/domains/" + first + "/dns-records"
		owner.Call("GET", platform, nil).Refused(fault.ResourceConflict)
		owner.Call("POST", platform, body).Refused(fault.ResourceConflict)

		id := claim(t, i, owner, host)
		path := "/domains/" + id + "/dns-records"
		if n := owner.Call("GET", path, nil).Want(200).Len("data"); n != 0 {
			t.Errorf("a claim has %d records", n)
		}
		refused := func(why string) {
			t.Helper()
			text := owner.Call("POST", path, body).Refused(fault.ResourceConflict).Text("error.message")
			if !strings.Contains(text, why) {
				t.Errorf("refused with %s", text)
			}
		}
		refused("not proved")
		if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET verified_at = 1 WHERE id = ?", id); err != nil {
			t.Fatal(err)
		}
		refused("not set up")
		prove(t, i, id)
		r := owner.Call("POST", path, body).Want(201)
		one := path + "/" + r.Text("data.id")

		eve := i.Prepared(t, "eve@example.com")
		other := claim(t, i, eve, "eve.example.org")
		prove(t, i, other)
		eve.Call("GET", path, nil).Refused(fault.NotFound)
		eve.Call("POST", path, body).Refused(fault.NotFound)
		for _, foreign := range []string{one, "/domains/" + other + "/dns-records/" + r.Text("data.id")} {
			eve.Call("PATCH", foreign, M{"value": "y"}, apitest.IfMatch(r.Revision())).Refused(fault.NotFound)
			eve.Call("DELETE", foreign, nil, apitest.IfMatch(r.Revision())).Refused(fault.NotFound)
		}
		owner.Key("dns:read").Call("POST", path, body).Refused(fault.InsufficientPermission)
		owner.Key("dns:read").Call("GET", path, nil).Want(200)
		owner.Key("dns:create", "dns:update").Call("DELETE", one, nil, apitest.IfMatch(r.Revision())).
			Refused(fault.InsufficientPermission)
		owner.Key("dns:update").Call("PATCH", one, M{"value": "y"}, apitest.IfMatch(r.Revision())).Want(200)

		if _, err := i.DB.Exec(t.Context(), "UPDATE domain SET removal_state = 'pending' WHERE id = ?",
			id); err != nil {
			t.Fatal(err)
		}
		refused("being removed")
	})
}

// The bounds of a set and of a domain hold, and what is just below them is taken.
func TestBounds(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		add := func(name, value string) *apitest.Response {
			return owner.Call("POST", path, M{"type": "TXT", "name": name, "value": value})
		}
		for n := range 20 {
			add("many", fmt.Sprint(n)).Want(201)
		}
		add("many", "20").Refused(fault.ResourceConflict)
		for n := range 8 {
			add("long", fmt.Sprint(n)+strings.Repeat("x", 2047)).Want(201)
		}
		add("long", "x").Refused(fault.ResourceConflict)
		add("long", strings.Repeat("x", 2049)).Refused(fault.ValidationFailed, "/value")
		for n := range 200 - 28 {
			add(fmt.Sprintf("n%d", n), "x").Want(201)
		}
		add("last", "x").Refused(fault.ResourceConflict)
		// Pages hold them all once.
		seen, cursor := map[string]bool{}, ""
		for {
			page := owner.Call("GET", path+"?limit=90"+cursor, nil).Want(200)
			for _, r := range of(t, page) {
				seen[r["id"].(string)] = true
			}
			if page.Value("pagination.hasMore") != "true" {
				break
			}
			cursor = "&cursor=" + page.Text("pagination.nextCursor")
		}
		if len(seen) != 202 {
			t.Errorf("the pages have %d records", len(seen))
		}
	})
}

// Of two changes under one revision, one is made.
func TestTwoChangesAtOnce(t *testing.T) {
	each(t, func(t *testing.T, i *apitest.Installation, p *provider) {
		owner, path := hosted(t, i)
		r := owner.Call("POST", path, M{"type": "A", "name": "www", "value": "198.51.100.1"}).Want(201)
		var status [8]int
		var calls sync.WaitGroup
		for n := range status {
			calls.Go(func() {
				body := M{"value": fmt.Sprintf("198.51.100.%d", n+2)}
				status[n] = owner.Call("PATCH", path+"/"+r.Text("data.id"), body, apitest.IfMatch(r.Revision())).Status
			})
		}
		calls.Wait()
		i.Settle(t)
		won := 0
		for n, code := range status {
			if code == 200 {
				won++
				p.has(t, "www."+host, "A", fmt.Sprintf("198.51.100.%d", n+2))
			} else if code != 412 {
				t.Errorf("a change answers %d", code)
			}
		}
		if won != 1 {
			t.Errorf("%d changes were made", won)
		}
	})
}
