// Package dnsprovider changes records at the DNS provider of the installation, which
// hosts the zones of managed domains. It knows three ways to reach one, each in a
// file of its own.
//
// A provider holds record sets: all values of one name and type. Replace changes a
// set only if it is what the caller believes it to be. So a repeated change does
// nothing, and what somebody else changed meanwhile is noticed instead of
// overwritten.
package dnsprovider

import (
	"context"
	"errors"
)

// ErrNoZone means that the provider hosts no zone for a hostname and cannot make one.
var ErrNoZone = errors.New("the DNS provider hosts no zone for the hostname")

// ErrChanged means that a record set is not what the caller believed it to be.
var ErrChanged = errors.New("the records at the DNS provider are others than expected")

// Set is all records of one name and type.
type Set struct {
	// Name is a full name without a final dot, in lower case.
	Name string
	// Type is A, AAAA, CNAME, TXT, MX, CAA, SRV or NS.
	Type string
	// TTL is in seconds.
	TTL int64
	// Values are in the presentation form of zone files, MX and SRV with their
	// priority, hostnames with or without a final dot; TXT are the bare texts, without
	// quotes. Their order does not count. None means that there is no such set. What a
	// provider returns is in the form that Canonical gives.
	Values []string
}

// Provider is a DNS provider. Its methods return when their context ends.
type Provider interface {
	// Zone returns the hosted zone that a hostname belongs to, or ErrNoZone. A
	// provider that can make zones makes one of the hostname itself.
	Zone(ctx context.Context, hostname string) (zone string, err error)
	// Get returns the set of a name and type as the provider has it, or ErrChanged where
	// the zone was delegated above the name, so that it cannot be seen.
	Get(ctx context.Context, zone, name, kind string) (Set, error)
	// Replace makes the set of its name and type new if it is old now, and does
	// nothing if it is new already; otherwise it returns ErrChanged, also where other
	// records at the name leave no room for it: a CNAME stands alone. The values are
	// compared by their meaning; a TTL is set, never compared.
	Replace(ctx context.Context, zone string, old, new Set) error
}
