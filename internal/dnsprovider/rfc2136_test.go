package dnsprovider

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/waymarkhq/waymark/internal/dnsprovider/dnstest"
)

// eachServer runs a test against each server that takes dynamic updates.
func eachServer(t *testing.T, test func(t *testing.T, s *dnstest.Server)) {
	t.Run("knot", func(t *testing.T) { test(t, dnstest.Knot(t, zone)) })
	t.Run("bind", func(t *testing.T) { test(t, dnstest.BIND(t, zone)) })
}

func TestWrongKey(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dnstest.Server) {
		right, a := NewRFC2136(s.Address, testKey(t, dnstest.Key)), set("a."+zone, "A", 300, "192.0.2.1")
		for says, key := range map[string]string{
			"(BADSIG)":  "waymark:hmac-sha256:bm90",
			"(BADKEY)":  "other:hmac-sha256:bm90",
			"(BADTIME)": dnstest.Key,
		} {
			p := NewRFC2136(s.Address, testKey(t, key))
			if says == "(BADTIME)" {
				p.now = func() time.Time { return time.Now().Add(-2 * fudge * time.Second) }
			}
			_, errGet := p.Get(t.Context(), zone, a.Name, "A")
			_, errZone := p.Zone(t.Context(), a.Name)
			_, errCheck := p.Check(t.Context(), zone)
			for _, err := range []error{errGet, errZone, errCheck, p.Replace(t.Context(), zone, none(a), a)} {
				if err == nil || !strings.Contains(err.Error(), says) || errors.Is(err, ErrNoZone) ||
					errors.Is(err, ErrChanged) {
					t.Errorf("%v does not say %s", err, says)
				}
			}
		}
		peer{right, s, false}.has(t, none(a))
		found, err := right.Check(t.Context(), zone)
		if err != nil || !strings.Contains(found, "accepts the key waymark") {
			t.Errorf("%q, %v", found, err)
		}
		if found, err := right.Check(t.Context(), "example.net"); err != nil || found == "" {
			t.Errorf("%q, %v", found, err)
		}
	})
}

// relay passes messages on to a server and its answers through change, which may cut
// the connection instead (nil). It returns its address.
func relay(t *testing.T, server string, change func(request, answer []byte) []byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				behind, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer behind.Close()
				request := message(client)
				behind.Write(framed(request))
				if answer := change(request, message(behind)); answer != nil {
					client.Write(framed(answer))
				}
			}()
		}
	}()
	return l.Addr().String()
}

func message(r io.Reader) []byte {
	var length uint16
	if binary.Read(r, binary.BigEndian, &length) != nil {
		return nil
	}
	m := make([]byte, length)
	if _, err := io.ReadFull(r, m); err != nil {
		return nil
	}
	return m
}

func framed(m []byte) []byte { return append(binary.BigEndian.AppendUint16(nil, uint16(len(m))), m...) }

// changes reports whether a message is an update that changes something, not one that
// just demands.
func changes(request []byte) bool {
	var m dns.Msg
	return m.Unpack(request) == nil && m.Opcode == dns.OpcodeUpdate && len(m.Ns) > 0
}

// An update whose answer got lost was done: trying again finds that, and neither
// doubles a record nor takes it for somebody else's.
func TestLostUpdate(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dnstest.Server) {
		var lost atomic.Int32
		p := NewRFC2136(relay(t, s.Address, func(request, answer []byte) []byte {
			if changes(request) {
				lost.Add(1)
				return nil
			}
			return answer
		}), testKey(t, dnstest.Key))
		direct := peer{NewRFC2136(s.Address, testKey(t, dnstest.Key)), s, false}
		for _, each := range sets {
			steps := []Set{none(each.first), each.first, each.second, none(each.first)}
			for i, new := range steps[1:] {
				if err := p.Replace(t.Context(), zone, steps[i], new); err == nil || errors.Is(err, ErrChanged) {
					t.Fatalf("the lost answer became %v", err)
				}
				direct.has(t, new)
				if err := p.Replace(t.Context(), zone, steps[i], new); err != nil {
					t.Errorf("again %v: %v", new, err)
				}
				direct.has(t, new)
			}
		}
		if want := 3 * len(sets); int(lost.Load()) != want {
			t.Errorf("%d updates were sent, not %d", lost.Load(), want)
		}
	})
}

// A set that changes between the reading and the update is not overwritten: it is
// read once more.
func TestChangedMeanwhile(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dnstest.Server) {
		direct := peer{NewRFC2136(s.Address, testKey(t, dnstest.Key)), s, false}
		a, b, c := set("m."+zone, "A", 300, "192.0.2.1"), set("m."+zone, "A", 300, "192.0.2.2"),
			set("m."+zone, "A", 300, "192.0.2.3")
		direct.replace(t, none(a), a)
		var meanwhile func()
		p := NewRFC2136(relay(t, s.Address, func(request, answer []byte) []byte {
			var m dns.Msg
			if m.Unpack(request) == nil && m.Opcode == dns.OpcodeQuery && meanwhile != nil {
				meanwhile()
				meanwhile = nil
			}
			return answer
		}), testKey(t, dnstest.Key))
		meanwhile = func() { direct.replace(t, a, c) }
		peer{p, s, false}.changed(t, a, b)
		direct.has(t, c)
		meanwhile = func() { direct.replace(t, c, b) }
		peer{p, s, false}.replace(t, c, b) // as wanted, by somebody else
		direct.has(t, b)
		meanwhile = func() {
			direct.replace(t, b, a)
			direct.replace(t, a, b)
		}
		peer{p, s, false}.replace(t, b, c)
		direct.has(t, c)
	})
}

// Only signed answers to what was asked are believed.
func TestForgedAnswers(t *testing.T) {
	s := dnstest.Knot(t, zone)
	a := set("a."+zone, "A", 300, "192.0.2.1")
	peer{NewRFC2136(s.Address, testKey(t, dnstest.Key)), s, false}.replace(t, none(a), a)
	for name, forge := range map[string]func(m *dns.Msg, raw []byte) []byte{
		"a record without a signature": func(m *dns.Msg, _ []byte) []byte {
			m.Extra = slices.DeleteFunc(m.Extra, func(r dns.RR) bool { return r.Header().Rrtype == dns.TypeTSIG })
			packed, _ := m.Pack()
			return packed
		},
		"another record under the signature": func(_ *dns.Msg, raw []byte) []byte {
			at := strings.Index(string(raw), "\xc0\x00\x02\x01")
			raw[at+3] = 9
			return raw
		},
		"another id": func(_ *dns.Msg, raw []byte) []byte { raw[0] ^= 1; return raw },
		"half of it": func(_ *dns.Msg, raw []byte) []byte { return raw[:len(raw)/2] },
		"nothing":    func(*dns.Msg, []byte) []byte { return []byte{} },
	} {
		t.Run(name, func(t *testing.T) {
			address := relay(t, s.Address, func(request, answer []byte) []byte {
				m := new(dns.Msg)
				if m.Unpack(answer) != nil || m.Opcode != dns.OpcodeQuery {
					return answer
				}
				return forge(m, answer)
			})
			got, err := NewRFC2136(address, testKey(t, dnstest.Key)).Get(t.Context(), zone, a.Name, "A")
			if err == nil || errors.Is(err, ErrNoZone) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// silent returns the address of a server that takes connections and says nothing.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// gone returns an address at which no server listens.
func gone(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	return l.Addr().String()
}

// calls are the errors of each method.
func calls(ctx context.Context, p Provider) []error {
	a := set("a."+zone, "A", 300, "192.0.2.1")
	_, errGet := p.Get(ctx, zone, a.Name, "A")
	_, errZone := p.Zone(ctx, a.Name)
	return []error{errGet, errZone, p.Replace(ctx, zone, none(a), a)}
}

func TestAwayOrSilent(t *testing.T) {
	away, mute := NewRFC2136(gone(t), testKey(t, dnstest.Key)), NewRFC2136(silent(t), testKey(t, dnstest.Key))
	awayAPI, muteAPI := NewPowerDNS("http://"+gone(t), "key", nil), NewPowerDNS("http://"+silent(t), "key", nil)
	for _, p := range []Provider{away, awayAPI} {
		for _, err := range calls(t.Context(), p) {
			if err == nil || errors.Is(err, ErrNoZone) || errors.Is(err, ErrChanged) {
				t.Errorf("%T: %v", p, err)
			}
		}
	}
	for _, p := range []Provider{mute, muteAPI} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		for _, err := range calls(ctx, p) {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%T: %v", p, err)
			}
		}
	}
	mute.timeout, muteAPI.timeout = time.Millisecond, time.Millisecond
	for _, p := range []Provider{mute, muteAPI} {
		for _, err := range calls(t.Context(), p) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%T: %v", p, err)
			}
		}
	}
}

// The zone of a registry is no customer's, whoever hosts it.
func TestZoneOfRegistry(t *testing.T) {
	p := NewRFC2136(dnstest.BIND(t, "example").Address, testKey(t, dnstest.Key))
	if got, err := p.Zone(t.Context(), "www.customer.example"); !errors.Is(err, ErrNoZone) {
		t.Errorf("the zone is %q, %v", got, err)
	}
}

// What is below a delegation is not the server's to change.
func TestBelowDelegation(t *testing.T) {
	eachServer(t, func(t *testing.T, s *dnstest.Server) {
		p := peer{NewRFC2136(s.Address, testKey(t, dnstest.Key)), s, false}
		ns, below := set("sub."+zone, "NS", 300, "ns1.example.net"), set("www.sub."+zone, "A", 300, "192.0.2.1")
		p.replace(t, none(ns), ns)
		for _, hostname := range []string{ns.Name, below.Name} {
			if got, err := p.Zone(t.Context(), hostname); !errors.Is(err, ErrNoZone) {
				t.Errorf("the zone of %s is %q, %v", hostname, got, err)
			}
		}
		p.changed(t, none(below), below)
		if got, err := p.Get(t.Context(), zone, below.Name, "TXT"); !errors.Is(err, ErrChanged) {
			t.Errorf("got %v, %v", got, err)
		}
	})
}
