package domain

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/certificate"
	"github.com/waymarkhq/waymark/internal/dnslookup"
	"github.com/waymarkhq/waymark/internal/route"
)

// checkStatus is how a check ended.
type checkStatus string

// How a check ends.
const (
	passed  checkStatus = "ok"
	warning checkStatus = "warning"
	failed  checkStatus = "failed"
	skipped checkStatus = "skipped"
)

// Codes of failures, in Domain.LastError and in the error of the operation.
const (
	notProved     = "ownership_not_proved"
	misconfigured = "dns_misconfigured"
	dnsAway       = "dns_unavailable"
	noCertificate = "certificate_failed"
	probeFailed   = "probe_failed"
	displaced     = "displaced"
	detached      = "domain_detached"
)

// finding is what one check saw.
type finding struct {
	Status checkStatus `json:"status"`
	// Code of a failure.
	Code string `json:"code,omitempty"`
	// Message is for the owner.
	Message  string   `json:"message"`
	Expected []string `json:"expected,omitempty"`
	Observed []string `json:"observed,omitempty"`
}

// verification is what the last verification of a domain saw: its column of that
// name.
type verification struct {
	Ownership finding `json:"ownership"`
	Zone      finding `json:"zone"`
	DNS       finding `json:"dns"`
	HTTPS     finding `json:"https"`
	Links     finding `json:"links"`
	// Aliases and Addresses are where the hostname led.
	Aliases   []string     `json:"aliases,omitempty"`
	Addresses []netip.Addr `json:"addresses,omitempty"`
}

// failure returns the first check that failed, or nil.
func (v *verification) failure() *finding {
	for _, f := range []*finding{&v.Ownership, &v.DNS, &v.HTTPS, &v.Links} {
		if f.Status == failed {
			return f
		}
	}
	return nil
}

// inspectOwnership asks for the challenge of a domain.
func (o Options) inspectOwnership(ctx context.Context, d *Domain) finding {
	challenge := d.Challenge.Value
	found, err := o.Resolver.TXT(ctx, challenge.Name)
	f := finding{Status: failed, Code: notProved, Expected: []string{challenge.Value}, Observed: bounded(found)}
	switch {
	case slices.ContainsFunc(found, func(text string) bool {
		// Some providers store the quotes that an owner typed.
		return strings.Trim(text, ` "\`) == challenge.Value
	}):
		return finding{Status: passed, Message: "The TXT record " + challenge.Name + " proves the ownership.",
			Expected: f.Expected, Observed: f.Observed}
	case err == nil:
		f.Message = fmt.Sprintf("The TXT record %s has another value. Set it to %s, then verify again.", challenge.Name,
			challenge.Value)
	case dnslookup.IsAbsent(err):
		f.Message = fmt.Sprintf("The TXT record %s was not found. Add it with the value %s, then verify again.",
			challenge.Name, challenge.Value)
	default:
		f.Code = dnsAway
		f.Message = fmt.Sprintf("The TXT record %s could not be looked up. %s Verify again later.", challenge.Name, err)
	}
	return f
}

// inspectDNS looks where the hostname of a domain leads.
func (o Options) inspectDNS(ctx context.Context, d *Domain, v *verification) {
	v.Zone = o.inspectZone(ctx, d)
	host, err := o.Resolver.Host(ctx, d.Hostname)
	v.Aliases, v.Addresses = bounded(host.Aliases), host.Addresses[:min(len(host.Addresses), maxObserved)]
	if d.Mode == Platform {
		v.DNS = finding{Status: skipped, Message: "The platform zone belongs to the installation."}
		return
	}
	v.DNS = finding{Status: failed, Code: misconfigured, Observed: v.observed()}
	for _, r := range o.connectionRecords(d) {
		v.DNS.Expected = append(v.DNS.Expected, r.Value)
	}
	if o.leadsHere(ctx, host) {
		v.DNS = finding{Status: passed, Message: d.Hostname + " leads to this installation.", Expected: v.DNS.Expected,
			Observed: v.DNS.Observed}
		return
	}
	switch {
	case err == nil:
		v.DNS.Message = d.Hostname + " leads to " + some(v.DNS.Observed) + ", not to this installation. " + o.advice(d)
	case dnslookup.IsUnanswered(err):
		v.DNS.Code, v.DNS.Message = dnsAway, err.Error()+" Verify again later."
	default:
		v.DNS.Message = err.Error() + " " + o.advice(d)
		if len(v.Aliases) > 0 {
			v.DNS.Message = d.Hostname + " leads to " + some(v.Aliases) + ". " + v.DNS.Message
		}
	}
	if d.Mode == Managed && v.Zone.Status == passed && v.DNS.Code == misconfigured {
		v.DNS.Message = "The records of " + d.Hostname + " were made and are not seen in the DNS yet. Verify again in a " +
			"few minutes."
	}
}

// advice tells the owner of a domain what to change in the DNS.
func (o Options) advice(d *Domain) string {
	if d.Mode == Managed {
		return fmt.Sprintf("Delegate %s to the nameservers %s, then verify again.", d.ZoneName,
			some(o.Nameservers))
	}
	var kinds, values []string
	for _, r := range o.connectionRecords(d) {
		values = append(values, r.Value)
		if !slices.Contains(kinds, r.Type) {
			kinds = append(kinds, r.Type)
		}
	}
	return fmt.Sprintf("Set the %s record %s with the value %s, then verify again.", strings.Join(kinds, " and "),
		d.Hostname, some(values))
}

// some returns the first few of some values as part of a sentence.
func some(values []string) string { return strings.Join(values[:min(len(values), 4)], ", ") }

// leadsHere reports whether a hostname leads to this installation: through its name,
// or to its addresses alone. A provider that flattens CNAME records shows only the
// addresses of that name.
func (o Options) leadsHere(ctx context.Context, h dnslookup.Host) bool {
	name := o.Connection.CNAME
	if name != "" && slices.Contains(h.Aliases, name) {
		return true
	}
	here := func(a netip.Addr) bool { return slices.Contains(o.Connection.Addresses, a) }
	if name == "" || all(h.Addresses, here) {
		return len(h.Addresses) > 0 && all(h.Addresses, here)
	}
	own, err := o.Resolver.Host(ctx, name)
	return err == nil && all(h.Addresses, func(a netip.Addr) bool { return here(a) || slices.Contains(own.Addresses, a) })
}

func all(addresses []netip.Addr, holds func(netip.Addr) bool) bool {
	return !slices.ContainsFunc(addresses, func(a netip.Addr) bool { return !holds(a) })
}

// inspectZone looks whether the zone of a managed domain is delegated to the
// nameservers that serve it.
func (o Options) inspectZone(ctx context.Context, d *Domain) finding {
	if d.Mode != Managed || len(o.Nameservers) == 0 {
		return finding{Status: skipped, Message: "The installation does not manage the zone of this domain."}
	}
	found, err := o.Resolver.NS(ctx, d.ZoneName)
	f := finding{Status: passed, Expected: o.Nameservers, Observed: bounded(found),
		Message: d.ZoneName + " is delegated to the nameservers of this installation."}
	if err != nil || slices.ContainsFunc(found, func(name string) bool { return !slices.Contains(o.Nameservers, name) }) {
		f.Status, f.Message = warning, d.ZoneName+" is not delegated to the nameservers of this installation. "+o.advice(d)
	}
	return f
}

// inspectNames looks at the names of a domain whose ownership is proved.
func (o Options) inspectNames(ctx context.Context, d *Domain) verification {
	v := verification{Ownership: proved(d)}
	o.inspectDNS(ctx, d, &v)
	return v
}

// skipService tells why nothing was asked of the service of a domain.
func (v *verification) skipService(why string) {
	v.HTTPS = finding{Status: skipped, Message: why}
	v.Links = v.HTTPS
}

// inspectService gets the certificate of a domain and asks its hostname who answers
// there, provided that it leads here.
func (o Options) inspectService(ctx context.Context, d *Domain, v *verification) {
	v.skipService("The hostname does not lead to this installation yet.")
	if v.DNS.Status == failed {
		return
	}
	v.HTTPS = finding{Status: skipped, Message: "TLS ends in front of the redirector."}
	if o.Certify != nil {
		if err := o.Certify(ctx, d.Hostname); err != nil {
			v.HTTPS = finding{Status: failed, Code: noCertificate, Message: "No certificate could be got for " + d.Hostname +
				". Verify again later, and ask the operator of this installation if it goes on."}
			var refused *certificate.Failure
			if errors.As(err, &refused) {
				v.HTTPS.Message = refused.Message
			}
			v.Links.Message = "The hostname has no certificate yet."
			return
		}
		v.HTTPS = finding{Status: passed, Message: d.Hostname + " has a certificate."}
	}
	v.Links = o.probe(ctx, d.Hostname, v.Addresses)
}

// probe asks a hostname who answers there.
func (o Options) probe(ctx context.Context, hostname string, addresses []netip.Addr) finding {
	address := "https://" + hostname + route.HealthPath
	f := finding{Status: failed, Code: probeFailed, Expected: []string{address}}
	answer, failure := o.Prober.Get(ctx, hostname, route.HealthPath, addresses)
	if failure != nil {
		f.Message = failure.Message + " Verify again when " + address + " can be opened."
		return f
	}
	f.Observed = []string{answer.Status}
	if answer.Header.Get(route.InstallationHeader) != o.Installation {
		f.Message = "Another server answered at " + address + ". Make the hostname lead to this installation alone, " +
			"then verify again."
		return f
	}
	return finding{Status: passed, Message: "The redirector answers at " + address + ".", Expected: f.Expected,
		Observed: f.Observed}
}

// maxObserved is how many values of one kind are kept of what was seen; each keeps
// its first maxValue bytes.
const maxObserved, maxValue = 20, 300

func bounded(values []string) (kept []string) {
	for _, v := range values[:min(len(values), maxObserved)] {
		kept = append(kept, strings.ToValidUTF8(v[:min(len(v), maxValue)], ""))
	}
	return kept
}

// observed returns where the hostname led, for the owner.
func (v *verification) observed() []string {
	seen := slices.Clone(v.Aliases)
	for _, a := range v.Addresses {
		seen = append(seen, a.String())
	}
	return seen
}
