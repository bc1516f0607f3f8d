package certificate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mholt/acmez/v3/acme"

	"github.com/waymarkhq/waymark/internal/dnsprovider"
)

const (
	// txtTTL is that of the record of a challenge, in seconds.
	txtTTL = 60
	// changesTried bounds how often a record is changed again after somebody else
	// changed it at the same time.
	changesTried = 10
	// changeFor bounds one change of a record.
	changeFor = time.Minute
	// seenWithin bounds the wait until the resolver sees a new record.
	seenWithin, lookForTXTEvery = time.Minute, 2 * time.Second
)

// providerError is a failure of the DNS provider.
type providerError struct{ error }

// Unwrap returns what the provider said.
func (e *providerError) Unwrap() error { return e.error }

// presentTXT adds the record of a DNS-01 challenge (RFC 8555 §8.4) at the provider.
// Values of other challenges stay beside it.
func (i *issuer) presentTXT(ctx context.Context, c acme.Challenge) error {
	value := c.DNS01KeyAuthorization()
	err := i.changeTXT(ctx, c, func(values []string) []string {
		if slices.Contains(values, value) {
			return values
		}
		return append(slices.Clone(values), value)
	})
	if err == nil {
		i.awaitTXT(ctx, c)
	}
	return err
}

// removeTXT removes it.
func (i *issuer) removeTXT(ctx context.Context, c acme.Challenge) {
	value := c.DNS01KeyAuthorization()
	if err := i.changeTXT(ctx, c, func(values []string) []string {
		return slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == value })
	}); err != nil {
		i.Log.Warn("the record of a certificate's challenge was not removed", "name", c.DNS01TXTRecordName(), "error",
			err)
	}
}

// changeTXT changes the values of a challenge's record.
func (i *issuer) changeTXT(ctx context.Context, c acme.Challenge, change func([]string) []string) error {
	ctx, cancel := context.WithTimeout(ctx, changeFor)
	defer cancel()
	name := c.DNS01TXTRecordName()
	zone, err := i.Provider.Zone(ctx, c.Identifier.Value)
	if err != nil {
		return &providerError{fmt.Errorf("certificate.changeTXT(%q): %w", name, err)}
	}
	for range changesTried {
		var old dnsprovider.Set
		if old, err = i.Provider.Get(ctx, zone, name, "TXT"); err != nil {
			break
		}
		wanted := dnsprovider.Set{Name: name, Type: "TXT", TTL: txtTTL, Values: change(old.Values)}
		if err = i.Provider.Replace(ctx, zone, old, wanted); !errors.Is(err, dnsprovider.ErrChanged) {
			break
		}
	}
	if err != nil {
		return &providerError{fmt.Errorf("certificate.changeTXT(%q): %w", name, err)}
	}
	return nil
}

// awaitTXT waits until the resolver sees the record, for as long as seenWithin; then the
// authority has its try.
func (i *issuer) awaitTXT(ctx context.Context, c acme.Challenge) {
	ctx, cancel := context.WithTimeout(ctx, seenWithin)
	defer cancel()
	look := time.NewTicker(lookForTXTEvery)
	defer look.Stop()
	for i.Resolver != nil {
		values, _ := i.Resolver.TXT(ctx, c.DNS01TXTRecordName())
		if slices.Contains(values, c.DNS01KeyAuthorization()) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}
