package dnsprovider

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// sets is a set of each type, with what it becomes and a line that the server
// answers for that.
var sets = []struct {
	first, second Set
	served        string
}{
	{set("a."+zone, "A", 300, "192.0.2.1"), set("a."+zone, "A", 60, "192.0.2.2", "192.0.2.3"), "60\tIN\tA\t192.0.2.3"},
	{set("aaaa."+zone, "AAAA", 300, "2001:db8::1"), set("aaaa."+zone, "AAAA", 300, "2001:DB8:0::2"), "2001:db8::2"},
	{set("cname."+zone, "CNAME", 300, "one.example.net"), set("cname."+zone, "CNAME", 300, "Two.example.net."),
		"two.example.net."},
	{set("txt."+zone, "TXT", 300, `say "x"; \ back\034`, "", "plain"),
		set("txt."+zone, "TXT", 300, "grün ✓", strings.Repeat("é;\"", 900)), `"gr\195\188n \226\156\147"`},
	{set(zone, "MX", 300, "10 mail.example.net"),
		set(zone, "MX", 300, "10 Mail.example.net.", "20 ns1."+zone), "20 ns1." + zone + "."},
	{set("_sip._tcp."+zone, "SRV", 300, "10 5 5060 sip.example.net"),
		set("_sip._tcp."+zone, "SRV", 300, "0 0 0 ."), "0 0 0 ."},
	{set("caa."+zone, "CAA", 300, `0 issue "ca.example.net; policy=ev"`),
		set("caa."+zone, "CAA", 300, `128 Issue ";"`, "0 iodef mailto:a@example.net"), `128 issue ";"`},
	{set("sub."+zone, "NS", 300, "ns1.example.net"),
		set("sub."+zone, "NS", 300, "ns1.example.net", "ns2.example.net"), "ns2.example.net."},
	{set("*.wild."+zone, "A", 300, "192.0.2.1"), set("*.wild."+zone, "A", 300, "192.0.2.2"), "192.0.2.2"},
}

func TestSets(t *testing.T) {
	eachPeer(t, func(t *testing.T, p peer) {
		for _, each := range sets {
			first, second := each.first, each.second
			t.Run(first.Type+" "+first.Name, func(t *testing.T) {
				p.has(t, none(first))
				for range 2 { // the second time nothing is to be done
					p.replace(t, none(first), first)
					p.has(t, first)
				}
				for range 2 {
					p.replace(t, first, second)
					p.has(t, second)
				}
				served := strings.Join(p.Records(t, second.Name, second.Type), "\n")
				if !strings.Contains(served, each.served) {
					t.Errorf("the server answers %q, not %q", served, each.served)
				}
				// Just another TTL.
				second.TTL = 600
				p.replace(t, second, second)
				p.has(t, second)
				second.TTL = 900 // of values that are new already
				p.replace(t, first, second)
				p.has(t, second)
				// What is there is neither first nor nothing.
				p.changed(t, first, set(first.Name, first.Type, 60, first.Values...))
				p.changed(t, none(first), first)
				p.changed(t, first, none(first))
				p.has(t, second)
				for range 2 {
					p.replace(t, second, none(first))
					p.has(t, none(first))
				}
				p.changed(t, first, second)
				p.has(t, none(first))
			})
		}
	})
}

// A CNAME and other records do not stand at one name, and no provider says that they
// do.
func TestAlone(t *testing.T) {
	eachPeer(t, func(t *testing.T, p peer) {
		a, cname := set("alone."+zone, "A", 300, "192.0.2.1"), set("alone."+zone, "CNAME", 300, "one.example.net")
		p.replace(t, none(a), a)
		p.changed(t, none(cname), cname)
		p.has(t, a)
		p.replace(t, a, none(a))
		p.replace(t, none(cname), cname)
		p.changed(t, none(a), a)
		p.has(t, cname)
		apex := set(zone, "CNAME", 300, "one.example.net")
		p.changed(t, none(apex), apex)
	})
}

// A wildcard answers for names that have no records of their own; a CNAME leads to
// records of another name.
func TestAnswersOfOthers(t *testing.T) {
	eachPeer(t, func(t *testing.T, p peer) {
		wild, own := set("*."+zone, "A", 300, "192.0.2.1"), set("own."+zone, "A", 300, "192.0.2.1")
		p.replace(t, none(wild), wild)
		got, err := p.Get(t.Context(), zone, own.Name, "A")
		if err != nil || len(got.Values) != 0 {
			t.Errorf("got %v of a wildcard, %v", got, err)
		}
		p.replace(t, none(own), own)
		p.replace(t, wild, none(wild))
		p.has(t, own)
		cname := set("leads."+zone, "CNAME", 300, own.Name)
		p.replace(t, none(cname), cname)
		if got, err := p.Get(t.Context(), zone, cname.Name, "A"); err != nil || len(got.Values) != 0 {
			t.Errorf("got %v behind a CNAME, %v", got, err)
		}
	})
}

// The addresses of delegated nameservers belong to the zone; what else is below the
// delegation does not.
func TestDelegation(t *testing.T) {
	eachPeer(t, func(t *testing.T, p peer) {
		glue := set("ns1.sub."+zone, "A", 300, "192.0.2.1")
		ns := set("sub."+zone, "NS", 300, glue.Name)
		p.replace(t, none(glue), glue)
		p.replace(t, none(ns), ns)
		changed := set(glue.Name, "A", 300, "192.0.2.2")
		p.replace(t, glue, changed)
		if got, err := p.Get(t.Context(), zone, glue.Name, "A"); err != nil || !got.Same(changed) {
			t.Errorf("got %v, %v", got, err)
		}
		p.replace(t, ns, none(ns))
		p.has(t, changed)
	})
}

func TestZone(t *testing.T) {
	eachPeer(t, func(t *testing.T, p peer) {
		cname := set("alias."+zone, "CNAME", 300, "www.example.net")
		p.replace(t, none(cname), cname)
		for _, hostname := range []string{zone, "www." + zone, "a.b.c." + zone, "alias." + zone,
			"below.alias." + zone} {
			if got, err := p.Zone(t.Context(), hostname); got != zone || err != nil {
				t.Errorf("the zone of %s is %q, %v", hostname, got, err)
			}
		}
		if p.makesZones {
			return
		}
		for _, hostname := range []string{"example", "example.net", "otherzone.example", "com", "www.example.co.uk"} {
			if got, err := p.Zone(t.Context(), hostname); !errors.Is(err, ErrNoZone) {
				t.Errorf("the zone of %s is %q, %v", hostname, got, err)
			}
		}
		for range 2 {
			s := set("www.example.net", "A", 300, "192.0.2.1")
			if err := p.Replace(t.Context(), "example.net", none(s), s); err == nil {
				t.Error("a record in a zone of others")
			}
		}
	})
}

// Of callers that change a set at the same time, one wins and the others see that it
// did.
func TestAtTheSameTime(t *testing.T) {
	eachPeer(t, func(t *testing.T, p peer) {
		const rounds, callers = 10, 4
		now := none(set("race."+zone, "A", 0))
		for round := range rounds {
			var all sync.WaitGroup
			errs := make([]error, callers)
			next := make([]Set, callers)
			for i := range callers {
				next[i] = set(now.Name, "A", 300, fmt.Sprintf("192.0.2.%d", 10*round+i))
				all.Go(func() { errs[i] = p.Replace(t.Context(), zone, now, next[i]) })
			}
			all.Wait()
			won := -1
			for i, err := range errs {
				switch {
				case err == nil && won >= 0:
					t.Fatalf("round %d: both %d and %d won", round, won, i)
				case err == nil:
					won = i
				case !errors.Is(err, ErrChanged):
					t.Fatal(err)
				}
			}
			if won < 0 {
				t.Fatalf("round %d: nobody won", round)
			}
			now = next[won]
			p.has(t, now)
		}
	})
}

func TestRefusedSets(t *testing.T) {
	eachPeer(t, func(t *testing.T, p peer) {
		for _, s := range []Set{
			set("a."+zone, "A", 300, "2001:db8::1"),
			set("a."+zone, "A", -1, "192.0.2.1"),
			set("a.example.net", "A", 300, "192.0.2.1"),
			set("a"+zone, "A", 300, "192.0.2.1"),
			set("a."+zone, "PTR", 300, "b.example.net"),
			set("a."+zone, "CNAME", 300, "b.example.net", "c.example.net"),
			set(zone, "NS", 300, "ns1.example.net"),
		} {
			if err := p.Replace(t.Context(), zone, none(s), s); err == nil || errors.Is(err, ErrChanged) {
				t.Errorf("%v: %v", s, err)
			}
		}
		a := set("a."+zone, "A", 300, "192.0.2.1")
		if err := p.Replace(t.Context(), zone, set("b."+zone, "A", 300), a); err == nil {
			t.Error("a set became that of another name")
		}
		p.has(t, none(a))
	})
}

func TestEndedContext(t *testing.T) {
	eachPeer(t, func(t *testing.T, p peer) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a := set("a."+zone, "A", 300, "192.0.2.1")
		_, errGet := p.Get(ctx, zone, a.Name, "A")
		_, errZone := p.Zone(ctx, a.Name)
		for _, err := range []error{errGet, errZone, p.Replace(ctx, zone, none(a), a)} {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
}
