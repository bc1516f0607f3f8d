package dnsprovider

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// question asks for the records of a name.
func (p *RFC2136) question(ctx context.Context, name string, kind uint16) (*dns.Msg, error) {
	answer, err := p.ask(ctx, newQuestion(name, kind))
	switch {
	case errors.Is(err, errRefused):
		return nil, fmt.Errorf("%w: %w", ErrNoZone, err)
	case err != nil:
		return nil, err
	}
	switch answer.Rcode {
	case dns.RcodeSuccess, dns.RcodeNameError:
		return answer, nil
	case dns.RcodeRefused, dns.RcodeNotAuth:
		return nil, fmt.Errorf("%w: %w", ErrNoZone, p.refused(answer))
	}
	return nil, p.refused(answer)
}

func newQuestion(name string, kind uint16) *dns.Msg {
	m := new(dns.Msg).SetQuestion(dns.Fqdn(name), kind)
	m.RecursionDesired = false
	return m
}

// errRefused is an answer without a signature, as some servers give it about zones
// that they do not host.
var errRefused = errors.New("it answered REFUSED without a signature")

// refused is the error of an answer that is neither yes nor no.
func (p *RFC2136) refused(answer *dns.Msg) error {
	what := "question"
	if answer.Opcode == dns.OpcodeUpdate {
		what = "update"
	}
	return fmt.Errorf("%s answered a signed %s with %s", p.server, what, dns.RcodeToString[answer.Rcode])
}

// ask sends a message over a connection of its own, signed, and returns the answer,
// whose signature is right.
func (p *RFC2136) ask(ctx context.Context, m *dns.Msg) (answer *dns.Msg, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.server)
	if err != nil {
		return nil, cause(ctx, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	m.SetTsig(p.key.name, p.key.algorithm, fudge, p.now().Unix())
	c := &dns.Conn{Conn: conn, TsigSecret: map[string]string{p.key.name: p.key.secret}}
	if err = c.WriteMsg(m); err == nil {
		answer, err = c.ReadMsg()
	}
	if answer == nil {
		return nil, fmt.Errorf("%s did not answer: %w", p.server, cause(ctx, err))
	}
	signature := answer.IsTsig()
	switch {
	case signature == nil && err != nil:
		return nil, fmt.Errorf("the answer of %s cannot be read: %w", p.server, err)
	case signature == nil && answer.Rcode == dns.RcodeRefused:
		return nil, fmt.Errorf("%s: %w", p.server, errRefused)
	case signature == nil:
		return nil, fmt.Errorf("%s answered %s without a signature", p.server, dns.RcodeToString[answer.Rcode])
	case signature.Error != 0:
		return nil, fmt.Errorf("%s refuses the key %s: %s", p.server, undotted(p.key.name), wrongKey(signature.Error))
	case err != nil:
		return nil, fmt.Errorf("the answer of %s cannot be trusted: %w", p.server, err)
	case answer.Id != m.Id || !answer.Response || answer.Opcode != m.Opcode:
		return nil, fmt.Errorf("%s answered something else than was asked", p.server)
	}
	return answer, nil
}

// wrongKey says what the error of a signature means.
func wrongKey(code uint16) string {
	switch int(code) {
	case dns.RcodeBadKey:
		return "it does not know a key of this name and algorithm (BADKEY)"
	case dns.RcodeBadSig:
		return "its secret is another one (BADSIG)"
	case dns.RcodeBadTime:
		return "the clocks of both machines differ by more than " + (fudge * time.Second).String() + " (BADTIME)"
	}
	return strings.ToUpper(dns.RcodeToString[int(code)])
}
