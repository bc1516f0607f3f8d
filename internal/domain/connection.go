package domain

import (
	"net/netip"
	"slices"
)

// connectionTTL is the time to live, in seconds, that owners are told to give their
// records: a change of them is seen soon.
const connectionTTL = 300

// apexByAddress is the apexProfileId of a hostname that connects by addresses, since
// the apex of a zone can have no CNAME record.
const apexByAddress = "a"

// connectionRecords returns the records that lead a domain's hostname to this
// installation, with what the last verification saw of them. The hostname of a
// platform domain needs none.
func (o Options) connectionRecords(d *Domain) []Record {
	records := []Record{}
	if d.Mode == Platform {
		return records
	}
	add := func(kind, value string) {
		records = append(records, Record{Type: kind, Name: d.Hostname, Value: value, TTL: connectionTTL, Status: "pending",
			Observed: []string{}})
	}
	if d.Mode == External && o.Connection.CNAME != "" && d.apexProfile != apexByAddress {
		add("CNAME", o.Connection.CNAME)
	} else {
		for _, a := range o.Connection.Addresses {
			add(addressType(a), a.String())
		}
	}
	if v := &d.verification.Value; d.verification.Valid && v.DNS.Status != skipped {
		for i := range records {
			v.observe(&records[i])
		}
	}
	return records
}

// addressType is the type of the record that holds an address.
func addressType(a netip.Addr) string {
	if a.Is4() {
		return "A"
	}
	return "AAAA"
}

// observe fills in what was seen of a record. Where the hostname leads to the
// installation in another way, the record is not wrong.
func (v *verification) observe(r *Record) {
	if r.Type == "CNAME" && len(v.Aliases) > 0 {
		r.Observed = v.Aliases[:1]
	} else {
		for _, a := range v.Addresses {
			if r.Type == "CNAME" || r.Type == addressType(a) {
				r.Observed = append(r.Observed, a.String())
			}
		}
	}
	r.Status = "wrong"
	if v.DNS.Status == passed || slices.Contains(r.Observed, r.Value) {
		r.Status = "ok"
	}
}

// complete fills in what an answer about a domain has besides its row.
func (o Options) complete(d *Domain) {
	d.ConnectionRecords = o.connectionRecords(d)
	o.delegation(d)
}
