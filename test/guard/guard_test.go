package guard_test

import (
	"crypto/x509"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/waymarkhq/waymark/internal/outbound"
)

const (
	workers = 8
	// names that are attempted attemptsEach times one after the other, so that
	// it is known which answer an attempt got.
	names        = 2250
	attemptsEach = 4
	// sharedAttempts are made by all workers to few names at once.
	sharedAttempts = 1000
)

func TestGuard(t *testing.T) {
	r, s := receive(t), serveNames(t)
	client := outbound.New(outbound.Options{
		Resolver: "127.0.0.1:53",
		Allow:    map[string]netip.AddrPort{"allowed.example.com": netip.MustParseAddrPort("10.0.0.1:443")},
		CA:       x509.NewCertPool(), // knows nobody
	})
	t.Run("trap", func(t *testing.T) { springs(t, r) })
	t.Run("rebinding", func(t *testing.T) { rebinding(t, r, s, client) })
	t.Run("shared", func(t *testing.T) { shared(t, r, client) })
	t.Run("redirect", func(t *testing.T) {
		status, failure := client.Post(t.Context(), "https://www.example.com/redirect", nil, nil)
		if status != 302 || failure == nil || failure.Code != "redirect_refused" {
			t.Errorf("%d, %+v", status, failure)
		}
		if got := r.connections(t); len(got) != 1 || got[public[0]] != 1 {
			t.Errorf("connections %v", got)
		}
	})
	t.Run("system resolver", func(t *testing.T) {
		system := outbound.New(outbound.Options{})
		if status, failure := system.Post(t.Context(), "https://www.example.com/", nil, nil); status != 200 ||
			failure != nil {
			t.Errorf("%d, %+v", status, failure)
		}
		if _, failure := system.Post(t.Context(), "https://nobody.example.com/", nil, nil); failure == nil ||
			failure.Code != "dns_failed" {
			t.Errorf("%+v", failure)
		}
		for _, name := range s.names() {
			if strings.Count(name, ".") != 3 {
				t.Errorf("asked for %s, with a search domain", name)
			}
		}
	})
	t.Run("roots", func(t *testing.T) { // the CA is for the allowed host, the system's roots for others
		if status, failure := client.Post(t.Context(), "https://www.example.com/roots", nil, nil); status != 200 ||
			failure != nil {
			t.Errorf("public: %d, %+v", status, failure)
		}
		if _, failure := client.Post(t.Context(), "https://allowed.example.com/", nil, nil); failure == nil ||
			failure.Code != "tls_failed" {
			t.Errorf("allowed: %+v", failure)
		}
	})
}

// springs proves that connections to blocked addresses would succeed and be
// counted.
func springs(t *testing.T, r *receiver) {
	for _, a := range blocked {
		conn, err := net.Dial("tcp", netip.AddrPortFrom(a, 443).String())
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if got := r.connections(t); len(got) != len(blocked)-1 || got[blocked[0]] != 1 { // 0.0.0.0 is 127.0.0.1
		t.Fatalf("connections %v", got)
	}
}

// harmless holds the connections of a run against the public addresses.
func harmless(t *testing.T, r *receiver) (total int) {
	for a, n := range r.connections(t) {
		total += n
		if !slices.Contains(public, a) {
			t.Errorf("%d connections to %s", n, a)
		}
	}
	return total
}

func rebinding(t *testing.T, r *receiver, s *nameserver, client *outbound.Client) {
	var mu sync.Mutex
	outcomes := map[string]int{}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for number := next.Add(1); number <= names; number = next.Add(1) {
				for turn := range attemptsEach {
					code := attempt(t, r, s, client, fmt.Sprintf("n%d.example.com", number), turn)
					mu.Lock()
					outcomes[code]++
					mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
	total := harmless(t, r)
	t.Logf("%d attempts: %v; %d connections", names*attemptsEach, outcomes, total)
	// A crowded machine may be too slow for a few.
	if outcomes["ok"] < 1000 || outcomes["dns_blocked"] < 1000 || outcomes["dns_failed"] < 100 ||
		outcomes["timeout"] > names*attemptsEach/100 {
		t.Errorf("outcomes %v", outcomes)
	}
	if total < outcomes["ok"] || total > outcomes["ok"]+outcomes["timeout"] {
		t.Errorf("%d connections for %v", total, outcomes)
	}
}

// attempt makes one and holds its outcome against the answer of the DNS.
func attempt(t *testing.T, r *receiver, s *nameserver, client *outbound.Client, host string, turn int) (code string) {
	path := fmt.Sprintf("/%s/%d", host, turn)
	_, failure := client.Post(t.Context(), "https://"+host+path, nil, []byte("{}"))
	code = "ok"
	if failure != nil {
		code = failure.Code
	}
	if code == "timeout" {
		return code
	}
	asked := s.of(host)
	// Go's resolver may take a mapped address for IPv4, or leave it out.
	mapped := slices.ContainsFunc(asked.answer, netip.Addr.Is4In6)
	if want := expected(asked.answer); code != want && !mapped {
		t.Errorf("%s: %s, want %s for %v", path, code, want, asked.answer)
	}
	if asked.questions != turn+1 || asked.others != 0 {
		t.Errorf("%s: asked %d times, and %d times for other types", path, asked.questions, asked.others)
	}
	v, arrived := r.visit(path)
	if arrived != (code == "ok") {
		t.Errorf("%s: %s, arrived %v", path, code, arrived)
	}
	if arrived && (!slices.Contains(asked.answer, v.address) || v.serverName != host || v.host != host) {
		t.Errorf("%s: %+v of %v", path, v, asked.answer)
	}
	return code
}

// expected is the outcome of an attempt that got this answer.
func expected(answer []netip.Addr) string {
	code := "dns_failed"
	for _, a := range answer {
		switch {
		case slices.Contains(blocked, a):
			return "dns_blocked"
		case a.Is4():
			code = "ok"
		}
	}
	return code
}

// shared attempts the same names from all sides, where answers, sessions and
// failures of others are at hand.
func shared(t *testing.T, r *receiver, client *outbound.Client) {
	outcomes := make([]map[string]int, workers)
	var wait sync.WaitGroup
	for i := range workers {
		outcomes[i] = map[string]int{}
		wait.Go(func() {
			for n := range sharedAttempts / workers {
				host := fmt.Sprintf("n%d.example.com", names+1+n%len(patterns))
				if _, failure := client.Post(t.Context(), "https://"+host+"/", nil, nil); failure == nil {
					outcomes[i]["ok"]++
				} else {
					outcomes[i][failure.Code]++
				}
			}
		})
	}
	wait.Wait()
	total := map[string]int{}
	for _, o := range outcomes {
		for code := range maps.Keys(o) {
			total[code] += o[code]
		}
	}
	t.Logf("%d attempts: %v; %d connections", sharedAttempts, total, harmless(t, r))
	if total["ok"] == 0 || total["dns_blocked"] == 0 {
		t.Errorf("outcomes %v", total)
	}
}
