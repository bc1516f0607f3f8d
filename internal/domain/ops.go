package domain

import (
	"context"
	"net/netip"
	"time"

	"github.com/waymarkhq/waymark/internal/dependents"
	"github.com/waymarkhq/waymark/internal/dnslookup"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/durable"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/outbound"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/places"
)

// Options are what domains of an installation depend on.
type Options struct {
	// PlatformZone is the zone whose prefixes are platform domains; "" for
	// none.
	PlatformZone string
	// ReservedPrefixes are further prefixes that no app can have.
	ReservedPrefixes []string
	// AssetsHost serves images and APIHost the API; they are not domains of any app;
	// "" for none.
	AssetsHost, APIHost string
	// PerApp is how many domains an app may have.
	PerApp int64
	// Connection is where the hostnames of owners lead.
	Connection Connection
	// Provider hosts the zones of managed domains on Nameservers; nil for none.
	Provider    dnsprovider.Provider
	Nameservers []string
	// Certify gets the certificate of a hostname, unless there is one; nil when TLS
	// ends in front of the redirector.
	Certify func(ctx context.Context, hostname string) error

	// places bound the verifications that owners asked for, in this process.
	places *places.Places
	// Resolver and Prober look at the hostnames of domains.
	Resolver *dnslookup.Resolver
	Prober   *outbound.Prober
	// Installation is what the redirector calls this installation
	// (route.InstallationHeader).
	Installation string
	// Observe is called after each verification with what started it, request or
	// schedule, with ready or the code of its failure, and with how long it took.
	Observe func(trigger, outcome string, took time.Duration)
}

// Connection is what the DNS of a hostname must lead to: a name, or the addresses of
// the redirector, of which an apex needs one.
type Connection struct {
	CNAME     string
	Addresses []netip.Addr
}

func (c Connection) isSet() bool { return c.CNAME != "" || len(c.Addresses) > 0 }

// Register declares the operations of this package, adds what they do to works and
// returns the package's part.
func Register(p *op.Pipeline, works *durable.Works, o Options) part.Part {
	app := op.AppOf("domainId", appOf)
	o.places = places.New(maxPlaces, ownerPlaces)
	op.List(p, op.Op{ID: "getDomains", Method: "GET", Path: "/domains", Perm: "domains:read", App: op.AppInQuery,
		Summary: "List domains"}, func(ctx context.Context, c *op.Call, in *listInput, w op.Window) ([]Domain, error) {
		return o.list(ctx, c, in, w)
	})
	op.Write(p, op.Op{ID: "createDomains", Method: "POST", Path: "/domains", Perm: "domains:create", App: op.AppInBody,
		Status: 202, Summary: "Add a domain", Doc: "A platform domain is ready for links at once; follow the " +
			"operation until the redirector answers on it. An external or managed domain is a claim: add the record of " +
			"its `challenge` to the DNS and verify it. Others may claim the same hostname; the first who proves it " +
			"gets it."}, o.create)
	op.Read(p, op.Op{ID: "getDomainsDomainId", Method: "GET", Path: "/domains/{domainId}", Perm: "domains:read",
		App: app, Summary: "Get a domain"}, o.get)
	registerVerification(p, o)
	registerConfigs(p)
	op.Write(p, op.Op{ID: "deleteDomainsDomainId", Method: "DELETE", Path: "/domains/{domainId}", Perm: "domains:delete",
		App: app, IfMatch: op.IfMatchRequired, Status: 202, Summary: "Detach a domain", Doc: "The hostname is free for " +
			"others once the operation is done. A domain that has links or is the app's default stays: 409 with its " +
			"dependencies."}, detach)
	op.Read(p, op.Op{ID: "getDomainsDomainIdCapabilities", Method: "GET", Path: "/domains/{domainId}/capabilities",
		Perm: "capabilities:read", App: app, Summary: "Get what can be done with a domain"}, o.capabilities)
	op.Read(p, op.Op{ID: "getDomainOptions", Method: "GET", Path: "/domain-options", Perm: "domains:read",
		App: op.AppInQuery, Summary: "Get the ways to connect a domain"}, o.choices)
	return part.Part{
		Name: "domain", Kinds: []jobs.Kind{works.Add(creation), works.Add(detachment), works.Add(o.verifying()), publishing,
			republishing},
		Sweeps: []part.Sweep{{Name: "removed domains", Run: Sweep}},
		OfApp: part.OfApp{
			Tables: []string{"domain"},
			// The record of a removed domain stands in the way for as long as it is kept; that of
			// a claim that was never proved does not.
			Dependents: []dependents.Query{
				{Type: "domain", SQL: `SELECT id FROM domain WHERE app_id = ? AND (removal_state IS NULL
					OR removal_state <> 'removed')`},
				{Type: "removed_domain", Kept: true, SQL: `SELECT id, updated_at AS at FROM domain WHERE app_id = ?
					AND removal_state = 'removed' AND verified_at IS NOT NULL`},
			},
			Remove: part.Executing("DELETE FROM domain WHERE app_id = ?"),
		},
	}
}

type listInput struct {
	AppID    string `query:"appId" required:"true" maxLength:"500"`
	Detached *bool  `query:"detached"`
}

type domainInput struct {
	DomainID string `path:"domainId"`
}

func (o Options) get(ctx context.Context, c *op.Call, in *domainInput) (op.Item[Domain], error) {
	d, err := load(ctx, c.DB, in.DomainID)
	o.complete(&d)
	return op.Item[Domain]{Data: d, Ref: d.ref()}, err
}
