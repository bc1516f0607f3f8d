package certificate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mholt/acmez/v3/acme"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// Failure says why a hostname has no certificate, in words for its owner.
type Failure struct {
	// Code is one of the codes below, for programs.
	Code string
	// Message says what was seen and what to do.
	Message string
	// RetryAt is when the next order may be made at the earliest, but for a verification.
	RetryAt clock.Instant
	cause   error
}

// The codes of failures.
const (
	RateLimited   = "ca_rate_limited"     // the authority takes no more orders for now
	Refused       = "ca_refused"          // the authority issues nothing for the name
	CAAForbids    = "caa_forbids"         // a CAA record names other authorities
	Unreachable   = "ca_cannot_connect"   // the authority does not reach this installation
	WrongAnswer   = "ca_wrong_answer"     // something else answers at the hostname
	DNSFailed     = "ca_dns_failed"       // the authority cannot resolve the hostname
	AuthorityAway = "ca_away"             // the authority cannot be reached or fails
	ProviderAway  = "dns_provider_failed" // the DNS provider did not take the record
)

// Error implements error.
func (f *Failure) Error() string { return f.Message }

// Unwrap returns what the authority or the network said.
func (f *Failure) Unwrap() error { return f.cause }

// storageError is a failure of the database in the middle of an order. It says nothing of
// the name.
type storageError struct{ error }

// Unwrap returns what the database said.
func (e *storageError) Unwrap() error { return e.error }

func storageFailed(err error) error {
	if err == nil {
		return nil
	}
	return &storageError{err}
}

// advice says for each type of problem of the authority what it means.
var advice = map[string]struct{ code, message string }{
	acme.ProblemTypeRateLimited: {RateLimited, "The certificate authority takes no more orders for %s for now."},
	acme.ProblemTypeCAA: {CAAForbids, "A CAA record forbids the certificate authority to issue a certificate for %s. " +
		"Allow it in the CAA records of the domain, or remove them."},
	acme.ProblemTypeConnection: {Unreachable, "The certificate authority could not connect to %s on port 80 or 443. " +
		"Let the hostname lead to this installation, and open both ports."},
	acme.ProblemTypeTLS: {Unreachable, "The certificate authority could not connect to %s on port 443 by TLS. " +
		"Let the hostname lead to this installation alone."},
	acme.ProblemTypeUnauthorized: {WrongAnswer, "The certificate authority reached %s and got a wrong answer. " +
		"Let the hostname lead to this installation alone, also in its AAAA records."},
	acme.ProblemTypeIncorrectResponse: {WrongAnswer, "The certificate authority reached %s and got a wrong answer. " +
		"Let the hostname lead to this installation alone, also in its AAAA records."},
	acme.ProblemTypeDNS: {DNSFailed, "The certificate authority could not resolve %s. " +
		"Check the records of the hostname, and DNSSEC if the domain has it."},
	acme.ProblemTypeRejectedIdentifier: {Refused, "The certificate authority issues no certificates for %s."},
	acme.ProblemTypeServerInternal:     {AuthorityAway, "The certificate authority failed over %s."},
}

// maxDetail bounds what is kept of the authority's own words.
const maxDetail = 500

// explain returns the failure that an error of an order means.
func explain(subject string, err error) *Failure {
	f := &Failure{Code: AuthorityAway, Message: "The certificate authority cannot be reached, so there is no " +
		"certificate for " + subject + " yet.", cause: err}
	var provider *providerError
	var problem acme.Problem
	switch {
	case errors.As(err, &provider):
		f.Code = ProviderAway
		f.Message = "The DNS provider did not take the record that proves " + subject + "."
	case errors.As(err, &problem):
		known, ok := advice[problem.Type]
		if !ok {
			known.code, known.message = Refused, "The certificate authority refused the order for %s."
		}
		f.Code, f.Message = known.code, fmt.Sprintf(known.message, subject)
		if detail := strings.Join(strings.Fields(problem.Detail), " "); detail != "" {
			detail = strings.ToValidUTF8(detail[:min(len(detail), maxDetail)], "")
			f.Message += " It says: " + strings.TrimSuffix(detail, ".") + "."
		}
	}
	return f
}

// waits come after each failure in a row, the last one after all others. An order may
// fail two ways of proof, and authorities allow five failures an hour.
var waits = []time.Duration{5 * time.Minute, time.Hour, 4 * time.Hour, 12 * time.Hour, 24 * time.Hour}

// askAgainAfter is how old a failure is when a verification makes the next order, however
// many failed before: what was wrong may be mended. Rate limits of the authority are kept.
const askAgainAfter = 10 * time.Minute

// waiting returns the failure of a subject whose next order may not be made yet, nil
// when it may.
func (s *storage) waiting(ctx context.Context, subject string) (f *Failure, err error) {
	defer fault.Wrap(&err, "certificate.waiting(%q)", subject)
	now, failedAt := s.db.Now(), clock.Instant(0)
	f, err = store.One(ctx, s.db, func(r store.Row) (*Failure, error) {
		f := &Failure{}
		return f, r.Scan(&f.Code, &f.Message, &failedAt, &f.RetryAt)
	}, "SELECT code, message, failed_at, retry_at FROM certificate_failure WHERE subject = ? AND retry_at > ?", subject,
		now)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case err == nil && askerOf(ctx) == verification && f.Code != RateLimited && failedAt <= now.Add(-askAgainAfter):
		return nil, nil
	}
	return f, err
}

// failed notes a failure, and in f when the next order may be made. Its message tells when
// a verification makes it.
func (s *storage) failed(ctx context.Context, subject string, f *Failure) (err error) {
	defer fault.Wrap(&err, "certificate.failed(%q)", subject)
	message := f.Message
	return s.db.InTx(ctx, func(tx *store.Tx) error {
		before, err := store.One(ctx, tx, store.Value[int],
			"SELECT failures FROM certificate_failure WHERE subject = ?", subject)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		f.RetryAt = tx.Now.Add(waits[min(before, len(waits)-1)])
		next := f.RetryAt
		if f.Code != RateLimited {
			next = min(next, tx.Now.Add(askAgainAfter))
		}
		f.Message = message + next.Time().UTC().Format(" The next order is made after 15:04 UTC on 2 January.")
		_, err = tx.Exec(ctx, `INSERT INTO certificate_failure (subject, failures, code, message, failed_at, retry_at)
			VALUES (?, 1, ?, ?, ?, ?)
			ON CONFLICT (subject) DO UPDATE SET failures = certificate_failure.failures + 1, code = excluded.code,
				message = excluded.message, failed_at = excluded.failed_at, retry_at = excluded.retry_at`,
			subject, f.Code, f.Message, tx.Now, f.RetryAt)
		return err
	})
}

// succeeded forgets the failures of a subject.
func (s *storage) succeeded(ctx context.Context, subject string) (err error) {
	defer fault.Wrap(&err, "certificate.succeeded(%q)", subject)
	_, err = s.db.Exec(ctx, "DELETE FROM certificate_failure WHERE subject = ?", subject)
	return err
}
