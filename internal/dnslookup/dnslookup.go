// Package dnslookup asks the DNS about hostnames that strangers own. It asks the
// resolver of the installation, follows chains of CNAME records by questions of its
// own, and says in an owner's words why a question has no answer. It caches
// nothing: whoever asks wants to know what the DNS says now.
package dnslookup

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

const (
	// questionLimit is the time for one attempt at a question.
	questionLimit = 2 * time.Second
	// lookupLimit is the time for a whole lookup with all its questions.
	lookupLimit = 6 * time.Second
	// minTries is how often a question is asked when only one server is known; of
	// several servers each is asked once, and no more than maxServers.
	minTries, maxServers = 2, 3
	// maxChain is how many CNAME records are followed.
	maxChain = 8
	// udpSize is what travels without fragments (DNS flag day 2020). A longer
	// answer is asked for again over TCP, where 64 KiB is the most.
	udpSize = 1232
)

// systemServers is the file that names the servers of the system.
const systemServers = "/etc/resolv.conf"

// Resolver asks the DNS.
type Resolver struct{ server string }

// New returns a resolver that asks the DNS server at host:port; "" means the
// servers of the system.
func New(server string) *Resolver { return &Resolver{server} }

// Host is where a hostname leads.
type Host struct {
	// Aliases are the names that its CNAME records lead to, one after the other.
	Aliases []string
	// Addresses are those of the last name.
	Addresses []netip.Addr
}

// TXT returns the texts of a name. A text that its record holds in several strings
// is joined. The error is a *Failure.
func (r *Resolver) TXT(ctx context.Context, name string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	_, records, err := r.follow(ctx, name, dns.TypeTXT)
	var texts []string
	for _, record := range records {
		texts = append(texts, strings.Join(record.(*dns.TXT).Txt, ""))
	}
	return texts, err
}

// NS returns the nameservers of a zone. The error is a *Failure.
func (r *Resolver) NS(ctx context.Context, zone string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	_, records, err := r.follow(ctx, zone, dns.TypeNS)
	var names []string
	for _, record := range records {
		names = append(names, hostname(record.(*dns.NS).Ns))
	}
	return names, err
}

// Host returns where a hostname leads. It returns the aliases also with an error,
// which is a *Failure.
func (r *Resolver) Host(ctx context.Context, name string) (h Host, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	aliases, v4, err := r.follow(ctx, name, dns.TypeA)
	h.Aliases = aliases
	last := name
	if len(aliases) > 0 {
		last = aliases[len(aliases)-1]
	}
	if err != nil && !isCode(err, NoRecord) {
		return h, err
	}
	// The chain is known; a CNAME at its end would be a change between two questions.
	_, v6, other := r.follow(ctx, last, dns.TypeAAAA)
	for _, record := range append(v4, v6...) {
		switch record := record.(type) {
		case *dns.A:
			h.Addresses = appendAddress(h.Addresses, record.A)
		case *dns.AAAA:
			h.Addresses = appendAddress(h.Addresses, record.AAAA)
		}
	}
	switch {
	case len(h.Addresses) > 0:
		return h, nil
	case other != nil && !isCode(other, NoRecord):
		return h, other
	}
	return h, &Failure{NoRecord, last, "A or AAAA"}
}

func appendAddress(to []netip.Addr, ip net.IP) []netip.Addr {
	if a, ok := netip.AddrFromSlice(ip); ok {
		to = append(to, a.Unmap())
	}
	return to
}

// follow asks for the records of a type that a name has, or that the name has to
// which its CNAME records lead. Each link of the chain is a question of its own, so
// that no answer speaks for a name that was not asked for.
func (r *Resolver) follow(ctx context.Context, name string, kind uint16) (chain []string, records []dns.RR, err error) {
	seen := map[string]bool{}
	for current := canonical(name); ; {
		if seen[current] || len(chain) > maxChain {
			return chain, nil, &Failure{BadChain, name, typeName(kind)}
		}
		seen[current] = true
		answer, err := r.ask(ctx, current, kind)
		if err != nil {
			return chain, nil, err
		}
		target := ""
		for _, record := range answer.Answer {
			header := record.Header()
			if header.Class != dns.ClassINET || canonical(header.Name) != current {
				continue
			}
			if alias, ok := record.(*dns.CNAME); ok {
				target = canonical(alias.Target)
			} else if header.Rrtype == kind {
				records = append(records, record)
			}
		}
		switch {
		case len(records) > 0:
			return chain, records, nil
		case target == "" && answer.Rcode == dns.RcodeNameError:
			return chain, nil, &Failure{NoName, hostname(current), typeName(kind)}
		case target == "":
			return chain, nil, &Failure{NoRecord, hostname(current), typeName(kind)}
		}
		chain, current = append(chain, hostname(target)), target
	}
}

// ask asks one question until a server answers it.
func (r *Resolver) ask(ctx context.Context, name string, kind uint16) (answer *dns.Msg, err error) {
	question := new(dns.Msg).SetQuestion(name, kind)
	question.SetEdns0(udpSize, false)
	servers, err := r.servers()
	if err != nil {
		return nil, &Failure{NoServer, hostname(name), typeName(kind)}
	}
	code := Timeout
	for try := range max(minTries, len(servers)) {
		question.Id = uint16(rand.Uint32())
		server := servers[try%len(servers)]
		answer, err = exchange(ctx, "udp", server, question)
		if err == nil && answer.Truncated {
			answer, err = exchange(ctx, "tcp", server, question)
		}
		switch {
		case err != nil:
			code = Timeout
			if !isTimeout(err) {
				code = NoServer
			}
		case answer.Rcode == dns.RcodeSuccess, answer.Rcode == dns.RcodeNameError:
			return answer, nil
		case answer.Rcode == dns.RcodeRefused:
			code = Refused
		default:
			code = ServerFailure
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, &Failure{code, hostname(name), typeName(kind)}
}

// errOther means that an answer is not one to the question.
var errOther = errors.New("the answer belongs to another question")

// exchange sends a question to a server and returns its answer.
func exchange(ctx context.Context, network, server string, question *dns.Msg) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, questionLimit)
	defer cancel()
	client := &dns.Client{Net: network, Timeout: questionLimit}
	conn, err := client.DialContext(ctx, server)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// A reader notices the end of the context by this alone.
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	answer, _, err := client.ExchangeWithConnContext(ctx, question, conn)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	asked := question.Question[0]
	if !answer.Response || len(answer.Question) != 1 || answer.Question[0].Qtype != asked.Qtype ||
		answer.Question[0].Qclass != asked.Qclass || canonical(answer.Question[0].Name) != asked.Name {
		return nil, errOther
	}
	return answer, nil
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

// servers returns the addresses of the servers to ask. The file of the system is
// read each time: it changes when the machine moves.
func (r *Resolver) servers() (all []string, err error) {
	if r.server != "" {
		return []string{r.server}, nil
	}
	config, err := dns.ClientConfigFromFile(systemServers)
	if err != nil {
		return nil, err
	}
	for _, server := range config.Servers {
		all = append(all, net.JoinHostPort(server, config.Port))
	}
	if len(all) == 0 {
		return nil, errors.New(systemServers + " names no server")
	}
	return all[:min(len(all), maxServers)], nil
}

// canonical is how names are compared: in lower case, with a final dot.
func canonical(name string) string { return dns.CanonicalName(name) }

// hostname is how names are shown: without the final dot.
func hostname(name string) string { return strings.TrimSuffix(canonical(name), ".") }

func typeName(kind uint16) string { return dns.TypeToString[kind] }
