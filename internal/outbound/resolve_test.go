package outbound_test

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"github.com/waymarkhq/waymark/internal/outbound"
)

// zone answers questions of type A; a name that is not there does not exist.
var zone = map[string][]string{
	"private.example.com.":   {"A 10.0.0.1"},
	"loopback.example.com.":  {"A 127.0.0.1"},
	"mixed.example.com.":     {"A 93.184.216.34", "A 1.1.1.1", "A 169.254.169.254"},
	"mapped.example.com.":    {"A 93.184.216.34", "AAAA ::ffff:10.0.0.1"},
	"alias.example.com.":     {"CNAME alias2.example.com.", "A 192.168.0.1"},
	"large.example.com.":     append(repeat("A 93.184.216.34", 200), "A 10.0.0.1"),
	"ipv6.example.com.":      {},
	"ipv6inA.example.com.":   {"AAAA 2606:4700:4700::1111"},
	"dangling.example.com.":  {"CNAME nowhere.example.com."},
	"broken.example.com.":    nil,
	"localhost.example.com.": {"A 0.0.0.0"},
}

func repeat(text string, n int) []string {
	return strings.Split(strings.Repeat(text+"\n", n)[:n*(len(text)+1)-1], "\n")
}

// nameserver serves the zone and returns its address and the questions asked.
func nameserver(t *testing.T) (address string, asked func() []dns.Question) {
	t.Helper()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = packets.LocalAddr().String()
	streams, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var questions []dns.Question
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		mu.Lock()
		defer mu.Unlock()
		questions = append(questions, q.Question[0])
		name := q.Question[0].Name
		answer := new(dns.Msg).SetReply(q)
		records, known := zone[name]
		switch {
		case !known:
			answer.Rcode = dns.RcodeNameError
		case records == nil:
			answer.Rcode = dns.RcodeServerFailure
		}
		for _, r := range records {
			rr, err := dns.NewRR(name + " 0 IN " + r)
			if err != nil {
				t.Error(err)
			}
			answer.Answer = append(answer.Answer, rr)
		}
		if _, udp := w.LocalAddr().(*net.UDPAddr); udp {
			answer.Truncate(dns.MinMsgSize)
		}
		_ = w.WriteMsg(answer)
	})
	for _, server := range []*dns.Server{{PacketConn: packets, Handler: handler},
		{Listener: streams, Handler: handler}} {
		go server.ActivateAndServe()
		t.Cleanup(func() { server.Shutdown() })
	}
	return address, func() []dns.Question {
		mu.Lock()
		defer mu.Unlock()
		return questions
	}
}

func TestResolution(t *testing.T) {
	address, asked := nameserver(t)
	client := outbound.New(outbound.Options{Resolver: address})
	for name, code := range map[string]string{
		"private": "dns_blocked", "loopback": "dns_blocked", "mixed": "dns_blocked", "mapped": "dns_blocked",
		"alias": "dns_blocked",
		"large": "dns_blocked", "localhost": "dns_blocked",
		"ipv6": "dns_failed", "ipv6inA": "dns_failed", "dangling": "dns_failed", "broken": "dns_failed",
		"missing": "dns_failed",
	} {
		t.Run(name, func(t *testing.T) {
			status, failure := client.Post(t.Context(), "https://"+name+".example.com/", nil, nil)
			verify(t, status, failure, 0, code)
			if failure != nil && strings.ContainsAny(failure.Message, ":/") {
				t.Errorf("message %q", failure.Message)
			}
			if code == "dns_blocked" && failure.Message != "The destination's host resolves to an address that is "+
				"not public." {
				t.Errorf("message %q", failure.Message)
			}
		})
	}
	for _, q := range asked() {
		if q.Qtype != dns.TypeA || strings.Count(q.Name, ".") != 3 {
			t.Errorf("asked for %s %s", q.Name, dns.TypeToString[q.Qtype])
		}
	}
}

func TestNoResolver(t *testing.T) {
	address, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address.Close()
	post(t, outbound.Options{Resolver: address.LocalAddr().String()}, destination, 0, "dns_failed")
}
