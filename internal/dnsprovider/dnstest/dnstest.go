// Package dnstest runs the DNS servers of Debian for tests, set up as
// docs/dns-provider.md tells operators to: Knot, BIND and PowerDNS.
package dnstest

import (
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Key is the TSIG key of Knot and BIND, as a file of --rfc2136-tsig-file has it.
const Key = "waymark:hmac-sha256:" + secret

const secret = "c2l4dGVlbiBvciBtb3JlIGJ5dGVzIG9mIGEgc2VjcmV0"

// Server is a DNS server on free ports of the loopback interface, which ends with
// its test.
type Server struct {
	// Address is where it answers questions, by UDP and TCP, and takes updates.
	Address string
	// URL and APIKey are those of the HTTP API of PowerDNS.
	URL, APIKey string
}

// Knot starts Knot with a zone.
func Knot(t testing.TB, zone string) *Server {
	dir, port := folder(t), freePort(t)
	config := setting(t, "knot.conf", zone,
		"0.0.0.0@53, ::@53", "127.0.0.1@"+port, "/run/knot", dir, "/var/lib/knot", dir)
	write(t, dir, "knot.conf", config)
	write(t, dir, zone+".zone", setting(t, "example.com.zone", zone))
	return start(t, dir, port, zone, "knotd", "-c", filepath.Join(dir, "knot.conf"))
}

// BIND starts BIND with a zone.
func BIND(t testing.TB, zone string) *Server {
	dir, port := folder(t), freePort(t)
	config := setting(t, "named.conf", zone,
		"listen-on { any; };", "listen-on port "+port+" { 127.0.0.1; };", "listen-on-v6 { any; };",
		"listen-on-v6 { none; }; pid-file none; session-keyfile none;", "/var/cache/bind", dir)
	write(t, dir, "named.conf", config+"controls {};\n")
	write(t, dir, zone+".zone", setting(t, "example.com.zone", zone))
	return start(t, dir, port, zone, "named", "-g", "-c", filepath.Join(dir, "named.conf"))
}

// setting returns a file that docs/dns-provider.md shows, for a zone, with pairs of a
// text and what replaces it.
func setting(t testing.TB, name, zone string, pairs ...string) string {
	t.Helper()
	content := Example(t, name)
	for pair := range slices.Chunk(pairs, 2) {
		if !strings.Contains(content, pair[0]) {
			t.Fatalf("%s of docs/dns-provider.md does not have %q", name, pair[0])
		}
		content = strings.ReplaceAll(content, pair[0], pair[1])
	}
	return strings.NewReplacer("SECRET", secret, "example.com", zone).Replace(content)
}

// Example returns a file that docs/dns-provider.md shows: the block after the line
// that ends with its name in backticks and a colon.
func Example(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		} else if dir == filepath.Dir(dir) {
			t.Fatal(err)
		}
		dir = filepath.Dir(dir)
	}
	page, err := os.ReadFile(filepath.Join(dir, "docs", "dns-provider.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "`"+name+"`:\n\n```text\n")
	content, _, ended := strings.Cut(block, "```\n")
	if !found || !ended {
		t.Fatalf("docs/dns-provider.md does not show the file %s", name)
	}
	return content
}

// supervise runs a server until its own standard input ends, which happens when the
// process that started it is gone for whatever reason, and then removes the server's
// folder.
const supervise = `dir=$1; shift
"$@" >"$dir/log" 2>&1 &
pid=$!
cat >/dev/null
kill -KILL $pid 2>/dev/null
wait $pid
rm -rf "$dir"`

// start starts a server and waits until it answers for its zone.
func start(t testing.TB, dir, port, zone, program string, args ...string) *Server {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		path = "/usr/sbin/" + program
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is not installed; run: make tools", program)
	}
	supervisor := exec.Command("sh", append([]string{"-c", supervise, "sh", dir, path}, args...)...)
	alive, err := supervisor.StdinPipe()
	if err == nil {
		err = supervisor.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Address: "127.0.0.1:" + port}
	t.Cleanup(func() {
		if log, err := os.ReadFile(filepath.Join(dir, "log")); t.Failed() && err == nil {
			t.Logf("the log of %s ends with\n%s", program, log[max(0, len(log)-4000):])
		}
		alive.Close()
		supervisor.Wait()
	})
	storetest.Eventually(t, program+" answers for "+zone, func() bool {
		answer, err := s.ask(zone, dns.TypeSOA)
		return err == nil && answer.Authoritative && answer.Rcode == dns.RcodeSuccess
	})
	return s
}

// Records returns what the server answers everybody who asks for a name and a type,
// as lines of a zone file, sorted.
func (s *Server) Records(t testing.TB, name, kind string) []string {
	t.Helper()
	answer, err := s.ask(name, dns.StringToType[kind])
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{}
	for _, record := range slices.Concat(answer.Answer, answer.Ns) {
		if record.Header().Rrtype == dns.StringToType[kind] {
			lines = append(lines, record.String())
		}
	}
	slices.Sort(lines)
	return lines
}

func (s *Server) ask(name string, kind uint16) (*dns.Msg, error) {
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	answer, _, err := (&dns.Client{Net: "tcp"}).Exchange(m, s.Address)
	return answer, err
}

// folder returns a folder for the files of a server. Its path is short, as that of a
// socket must be.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "waymark-dns-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// freePort returns a port that is free for TCP and UDP. It is none of those that the
// system gives to connections, of which one could take it before the server does.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(10000 + rand.IntN(20000))
		if tcp, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			udp, err := net.ListenPacket("udp", "127.0.0.1:"+port)
			tcp.Close()
			if err == nil {
				udp.Close()
				return port
			}
		}
	}
	t.Fatal("no port is free")
	return ""
}
