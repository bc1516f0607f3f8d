package dnsrecord

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/ids"
	"github.com/waymarkhq/waymark/internal/jobs"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/publication"
	"github.com/waymarkhq/waymark/internal/store"
)

// set is all records of one name and type: what a provider changes.
type set struct {
	id, domainID string
	fqdn         string
	kind         Type
	ttl          int64
	// known are the contents that the provider has by this installation's doing: the
	// last that was confirmed, then those that were tried since, any of which may have
	// arrived. Others are somebody else's.
	known []content
	// observed is what the provider had at the last look.
	observed  content
	status    Status
	lastError opt.Null[publication.Error]
	// jobID is the job that applies the set; "" for none. One job at a time does.
	jobID     string
	checkedAt clock.Instant
}

// maxKnown bounds known. The confirmed content is kept and the oldest that was tried
// is forgotten; if that is what arrived, it is taken for somebody else's.
const maxKnown = 8

// content is what a set holds.
type content struct {
	TTL    int64    `json:"ttl"`
	Values []string `json:"values"`
}

// at returns the content under the name and type of s, as a provider has it.
func (s *set) at(c content) dnsprovider.Set {
	return dnsprovider.Set{Name: s.fqdn, Type: string(s.kind), TTL: c.TTL, Values: c.Values}
}

// same reports whether two contents have the same values. TTLs do not count: some
// providers raise them.
func (s *set) same(a, b content) bool { return s.at(a).Same(s.at(b)) }

// knows reports whether a content may be at the provider by this installation's doing.
func (s *set) knows(c content) bool {
	return slices.ContainsFunc(s.known, func(k content) bool { return s.same(k, c) })
}

// learn adds a content to those that are known.
func (s *set) learn(c content) {
	if s.knows(c) {
		return
	}
	if s.known = append(s.known, c); len(s.known) > maxKnown {
		s.known = slices.Delete(s.known, 1, 2)
	}
}

// without returns a content without the values that are known.
func (s *set) without(c content) content {
	var ours []string
	for _, k := range s.known {
		for _, value := range k.Values {
			ours = append(ours, s.meaning(value))
		}
	}
	left := content{TTL: c.TTL}
	for _, value := range c.Values {
		if !slices.Contains(ours, s.meaning(value)) {
			left.Values = append(left.Values, value)
		}
	}
	return left
}

func (s *set) meaning(value string) string {
	canonical, err := dnsprovider.Canonical(string(s.kind), value)
	if err != nil {
		return value
	}
	return canonical
}

const setColumns = "s.id, s.domain_id, s.fqdn, s.type, s.ttl, s.known, s.observed, s.status, s.last_error, " +
	"COALESCE(s.job_id, ''), s.checked_at"

// fields returns where the columns of a set are scanned to, and decode, which
// finishes it then.
func (s *set) fields() (dest []any, decode func() error) {
	var known, observed string
	var failure *string
	return []any{&s.id, &s.domainID, &s.fqdn, &s.kind, &s.ttl, &known, &observed, &s.status, &failure, &s.jobID,
			&s.checkedAt}, func() error {
			err := json.Unmarshal([]byte(known), &s.known)
			if err == nil {
				err = json.Unmarshal([]byte(observed), &s.observed)
			}
			if err == nil {
				err = s.lastError.SetColumn(failure)
			}
			return err
		}
}

func scanSet(r store.Row) (s set, err error) {
	dest, decode := s.fields()
	if err = r.Scan(dest...); err == nil {
		err = decode()
	}
	return s, err
}

// findSet returns the set of a name and type, or store.ErrNotFound.
func findSet(ctx context.Context, q store.Q, domainID, fqdn string, kind Type) (set, error) {
	return store.One(ctx, q, scanSet, "SELECT "+setColumns+` FROM dns_record_set s WHERE s.fqdn = ? AND s.type = ?
		AND s.domain_id = ?`, fqdn, kind, domainID)
}

// addSet stores a set that has nothing yet. Whatever a domain that held the hostname
// before left at the provider is known: it goes with the first content.
func addSet(ctx context.Context, tx *store.Tx, domainID, fqdn string, kind Type) (set, error) {
	s := set{id: ids.New(), domainID: domainID, fqdn: fqdn, kind: kind, ttl: defaultTTL, status: Pending,
		known: []content{{}}, checkedAt: tx.Now}
	left, err := store.All(ctx, tx, scanSet, "SELECT "+setColumns+` FROM dns_record_set s JOIN domain d
		ON d.id = s.domain_id WHERE s.fqdn = ? AND s.type = ? AND d.detached`, fqdn, kind)
	if err != nil {
		return s, err
	}
	for _, before := range left {
		for _, c := range before.known {
			s.learn(c)
		}
		if _, err := tx.Exec(ctx, "DELETE FROM dns_record_set WHERE id = ?", before.id); err != nil {
			return s, err
		}
	}
	_, err = tx.Exec(ctx, `INSERT INTO dns_record_set (id, domain_id, fqdn, type, ttl, known, observed, status,
		checked_at) VALUES (?, ?, ?, ?, ?, '[]', '{}', ?, ?)`, s.id, s.domainID, s.fqdn, s.kind, s.ttl, s.status,
		s.checkedAt)
	if err == nil {
		err = s.save(ctx, tx)
	}
	return s, err
}

// save stores what changes of a set.
func (s *set) save(ctx context.Context, tx *store.Tx) error {
	known, err := json.Marshal(s.known)
	if err != nil {
		return err
	}
	observed, err := json.Marshal(s.observed)
	if err != nil {
		return err
	}
	failure, err := s.lastError.Column()
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE dns_record_set SET ttl = ?, known = ?, observed = ?, status = ?, last_error = ?,
		job_id = ?, checked_at = ? WHERE id = ?`, s.ttl, string(known), string(observed), s.status, failure,
		store.NullString(s.jobID), s.checkedAt, s.id)
	return err
}

// changed has a set applied that the owner, or the installation, changed. What the
// provider was seen to have is known from here on: the change replaces it.
func (s *set) changed(ctx context.Context, tx *store.Tx, appID string) error {
	s.learn(s.observed)
	s.status, s.lastError = Pending, opt.Null[publication.Error]{}
	return s.enqueue(ctx, tx, appID)
}

// enqueue has a job apply the set after tx, unless one is at it: that one sees the
// change. It needs no grant: the change was authorized.
func (s *set) enqueue(ctx context.Context, tx *store.Tx, appID string) (err error) {
	if s.jobID == "" {
		s.jobID, err = jobs.EnqueueID(ctx, tx, applyKind, s.id, appID, actor.Grant{})
	}
	if err == nil {
		err = s.save(ctx, tx)
	}
	return err
}

// wanted returns what the set is to hold: its records.
func (s *set) wanted(ctx context.Context, q store.Q) (content, error) {
	values, err := store.All(ctx, q, func(r store.Row) (string, error) {
		var value string
		var priority *int64
		err := r.Scan(&value, &priority)
		return rdata(s.kind, value, priority), err
	}, "SELECT value, priority FROM dns_record WHERE set_id = ? ORDER BY id", s.id)
	return content{TTL: s.ttl, Values: values}, err
}

// shown returns the values of a content as answers have them: with bounds, since
// anything may be at a provider.
func (c content) shown() []string {
	const most, longest = 50, 4096
	values := []string{}
	for _, value := range c.Values[:min(len(c.Values), most)] {
		if r := []rune(value); len(r) > longest {
			value = string(r[:longest])
		}
		values = append(values, strings.ToValidUTF8(value, "\uFFFD"))
	}
	return values
}
