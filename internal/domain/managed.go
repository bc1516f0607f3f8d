package domain

import (
	"context"
	"errors"
	"fmt"

	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/dnsrecord"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// delegation completes the answer of a managed domain: its DNS is changed here, once
// its owner delegated it to the nameservers.
func (o Options) delegation(d *Domain) {
	if d.Mode == Managed {
		d.CanManageDNS = o.Provider != nil
		d.Nameservers = append(d.Nameservers, o.Nameservers...)
	}
}

// hostZone finds the zone at the DNS provider that a managed hostname belongs to,
// whose ownership is proved, and has the records that the installation needs made
// there. A problem is for the owner and the operator to solve; problem is "" when
// there is none. It asks the provider, so it must not run in a transaction.
func (o Options) hostZone(ctx context.Context, db *store.DB, d *Domain) (problem string, err error) {
	defer fault.Wrap(&err, "domain.hostZone(%s)", d.ID)
	switch {
	case o.Provider == nil:
		return "This installation manages no DNS zones any more. Ask its operator to set --dns-provider, then verify " +
			"again.", nil
	case len(o.Connection.Addresses) == 0:
		return "This installation does not say which addresses managed hostnames lead to. Ask its operator to set " +
			"--connect-ips, then verify again.", nil
	}
	zone, err := o.Provider.Zone(ctx, d.Hostname)
	if errors.Is(err, dnsprovider.ErrNoZone) {
		return fmt.Sprintf("The DNS provider of this installation has no zone for %s. Ask the operator to add it "+
			"there, then verify again.", d.Hostname), nil
	}
	if err != nil {
		return "", err
	}
	d.ZoneName = zone
	return "", db.InTx(ctx, func(tx *store.Tx) error {
		// A domain that was detached meanwhile gets no records any more.
		n, err := tx.Exec(ctx, "UPDATE domain SET zone_name = ? WHERE id = ? AND "+held+" AND removal_state IS NULL",
			zone, d.ID)
		if err != nil || n == 0 {
			return err
		}
		return dnsrecord.Ensure(ctx, tx, d.ID, o.systemRecords(d))
	})
}

// systemRecords are the records that the installation needs at a managed domain: the
// challenge, so that the ownership stays proved once the zone is delegated here, and
// the connection. It connects by address: a hostname that is a whole zone can have no
// CNAME, and another one could have no other record beside it.
func (o Options) systemRecords(d *Domain) []dnsrecord.System {
	records := []dnsrecord.System{{Type: dnsrecord.TXT, Name: dnsrecord.ChallengeName, Value: d.Challenge.Value.Value}}
	for _, address := range o.Connection.Addresses {
		kind, address := dnsrecord.AAAA, address.Unmap()
		if address.Is4() {
			kind = dnsrecord.A
		}
		records = append(records, dnsrecord.System{Type: kind, Name: "@", Value: address.String()})
	}
	return records
}
