package guard_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
)

// public are addresses that may be reached; many are neighbours of those that
// may not.
var public = addresses("93.184.216.34 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 128.0.0.0 " +
	"169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.20.0.0 223.255.255.255")

// blocked are addresses that must never be reached.
var blocked = addresses("10.0.0.1 169.254.169.254 127.0.0.1 127.255.255.254 10.255.255.255 100.64.0.1 100.127.255.255 " +
	"172.16.0.1 172.31.255.255 192.0.0.8 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.1.1 " +
	"192.168.255.255 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 240.0.0.1 0.0.0.0")

// blockedIPv6 stand in answers to questions for IPv4.
var blockedIPv6 = addresses("::1 fd00::1 fe80::1 ::ffff:10.0.0.1 ::ffff:127.0.0.1 64:ff9b::a00:1 2002:a00:1::")

func addresses(text string) (all []netip.Addr) {
	for field := range strings.FieldsSeq(text) {
		all = append(all, netip.MustParseAddr(field))
	}
	return all
}

// nameserver answers differently every time.
type nameserver struct {
	mu      sync.Mutex
	random  *rand.Rand
	history map[string]history
}

// history is what a name was asked for and what the last answer held.
type history struct {
	questions, others int // of type A and of other types
	answer            []netip.Addr
}

// serveNames starts the DNS server at every address, thus also at those of the
// machine's /etc/resolv.conf.
func serveNames(t *testing.T) *nameserver {
	s := &nameserver{random: rand.New(rand.NewPCG(1, 2)), history: map[string]history{}}
	packets, err := net.ListenPacket("udp", ":53")
	if err != nil {
		t.Fatal(err)
	}
	streams, err := net.Listen("tcp", ":53")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range []*dns.Server{{PacketConn: packets, Handler: s}, {Listener: streams, Handler: s}} {
		go server.ActivateAndServe()
		t.Cleanup(func() { server.Shutdown() })
	}
	return s
}

func (s *nameserver) of(host string) history {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history[host+"."]
}

// names returns all that was asked for.
func (s *nameserver) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.history))
}

// ServeDNS answers n<number>.example.com by the pattern of the number, nobody
// with nothing, and all other names with a public address.
func (s *nameserver) ServeDNS(w dns.ResponseWriter, q *dns.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	question := q.Question[0]
	h := s.history[question.Name]
	answer := new(dns.Msg).SetReply(q)
	if question.Qtype != dns.TypeA {
		h.others++
	} else {
		var number int
		addresses := public[:1]
		if n, _ := fmt.Sscanf(question.Name, "n%d.", &number); n == 1 {
			addresses = patterns[number%len(patterns)](s, h.questions)
		} else if strings.HasPrefix(question.Name, "nobody.") {
			addresses = nil
		}
		s.fill(answer, addresses)
		if _, udp := w.LocalAddr().(*net.UDPAddr); udp {
			answer.Truncate(dns.MinMsgSize)
		}
		if !answer.Truncated { // the client comes again by TCP, for another answer
			h.questions++
			h.answer = addresses
		}
	}
	s.history[question.Name] = h
	_ = w.WriteMsg(answer)
}

// fill writes the addresses as records, in half of the cases behind a chain of
// aliases, and always some blocked ones where they do not count.
func (s *nameserver) fill(m *dns.Msg, addresses []netip.Addr) {
	name := m.Question[0].Name
	header := func(kind uint16) dns.RR_Header {
		return dns.RR_Header{Name: name, Rrtype: kind, Class: dns.ClassINET, Ttl: s.random.Uint32N(2) * 3600}
	}
	for i := range s.random.IntN(2) * 3 {
		alias := &dns.CNAME{Hdr: header(dns.TypeCNAME), Target: fmt.Sprintf("alias%d.internal.", i)}
		m.Answer = append(m.Answer, alias)
		name = alias.Target
	}
	for _, a := range addresses {
		if a.Is4() {
			m.Answer = append(m.Answer, &dns.A{Hdr: header(dns.TypeA), A: a.AsSlice()})
		} else {
			m.Answer = append(m.Answer, &dns.AAAA{Hdr: header(dns.TypeAAAA), AAAA: a.AsSlice()})
		}
	}
	m.Extra = append(m.Extra, &dns.A{Hdr: header(dns.TypeA), A: s.one(blocked).AsSlice()})
	if len(addresses) == 0 && s.random.IntN(2) == 0 {
		m.Rcode = dns.RcodeNameError
	}
}

func (s *nameserver) one(from []netip.Addr) netip.Addr { return from[s.random.IntN(len(from))] }

func (s *nameserver) some(from []netip.Addr, n int) (all []netip.Addr) {
	for range n {
		all = append(all, s.one(from))
	}
	return all
}

func (s *nameserver) shuffled(lists ...[]netip.Addr) (all []netip.Addr) {
	for _, list := range lists {
		all = append(all, list...)
	}
	s.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// patterns return the addresses of the answer with this turn.
var patterns = []func(s *nameserver, turn int) []netip.Addr{
	func(s *nameserver, turn int) []netip.Addr { // rebinding at once
		if turn%2 == 0 {
			return s.some(public, 1)
		}
		return s.some(blocked, 1)
	},
	func(s *nameserver, turn int) []netip.Addr { // rebinding after trust was won
		if turn < 3 {
			return s.some(public, 2)
		}
		return s.some(blocked, 2)
	},
	func(s *nameserver, _ int) []netip.Addr { return s.some(blocked, 1+s.random.IntN(3)) },
	func(s *nameserver, _ int) []netip.Addr { return s.some(public, 1+s.random.IntN(8)) },
	func(s *nameserver, _ int) []netip.Addr { // one among many
		return s.shuffled(s.some(public, 1+s.random.IntN(6)), s.some(blocked, 1))
	},
	func(s *nameserver, _ int) []netip.Addr { // too many for UDP, a blocked one perhaps at the end
		return append(s.some(public, 60), s.some(blocked, s.random.IntN(2))...)
	},
	func(s *nameserver, _ int) []netip.Addr { // duplicates
		one := s.one(public)
		return append([]netip.Addr{one, one, one}, s.some(blocked, s.random.IntN(2))...)
	},
	func(s *nameserver, _ int) []netip.Addr { // IPv6 that nobody asked for
		return s.shuffled(s.some(public, s.random.IntN(2)), s.some(blockedIPv6, 1+s.random.IntN(2)))
	},
	func(*nameserver, int) []netip.Addr { return nil },
	func(s *nameserver, _ int) []netip.Addr { // anything
		return s.shuffled(s.some(public, s.random.IntN(3)), s.some(blocked, s.random.IntN(2)))
	},
}
