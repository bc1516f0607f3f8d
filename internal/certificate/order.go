package certificate

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3/acme"

	"github.com/waymarkhq/waymark/internal/fault"
)

// noncesLost bounds how often a request is repeated after the client gave it up because
// the authority did not take its nonces, ten each time.
const noncesLost = 5

// again repeats a request whose nonces the authority did not take: a further order
// would be made otherwise.
func again[T any](request func() (T, error)) (answer T, err error) {
	for range noncesLost {
		if answer, err = request(); !isProblem(err, acme.ProblemTypeBadNonce) {
			break
		}
	}
	return answer, err
}

func isProblem(err error, kind string) bool {
	var problem acme.Problem
	return errors.As(err, &problem) && problem.Type == kind
}

// order gets a certificate. An account that the authority forgot, as those for tests do,
// is registered anew.
func (i *issuer) order(ctx context.Context, csr *x509.CertificateRequest) (_ *certmagic.IssuedCertificate, err error) {
	defer fault.Wrap(&err, "certificate.order(%q)", csr.DNSNames[0])
	issued, err := i.tryOrder(ctx, csr)
	if !isProblem(err, acme.ProblemTypeAccountDoesNotExist) {
		return issued, err
	}
	if err := i.storage.Delete(ctx, i.accountKey()); err != nil {
		return nil, storageFailed(err)
	}
	return i.tryOrder(ctx, csr)
}

// tryOrder proves the name in one of the ways there are. When the first fails because of
// how the installation is reached, a second order tries the next.
func (i *issuer) tryOrder(ctx context.Context,
	csr *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	account, err := i.account(ctx)
	if err != nil {
		return nil, err
	}
	var first error // the one to tell: it is of the simplest way
	for _, solver := range i.solvers(csr.DNSNames[0]) {
		issued, err := i.orderBy(ctx, account, csr, solver)
		if err == nil {
			return issued, nil
		}
		if first == nil {
			first = err
		}
		if !isProblem(err, acme.ProblemTypeConnection) && !isProblem(err, acme.ProblemTypeTLS) &&
			!isProblem(err, acme.ProblemTypeUnauthorized) {
			break
		}
	}
	return nil, first
}

// orderBy makes one order and proves the name in one way (RFC 8555 §7.4).
func (i *issuer) orderBy(ctx context.Context, account acme.Account, csr *x509.CertificateRequest,
	solver solver) (*certmagic.IssuedCertificate, error) {
	name := csr.DNSNames[0]
	wanted := acme.Order{Identifiers: []acme.Identifier{{Type: "dns", Value: name}}, Replaces: i.replaced(ctx, name)}
	order, err := again(func() (acme.Order, error) { return i.client.NewOrder(ctx, account, wanted) })
	if wanted.Replaces != "" && errors.As(err, new(acme.Problem)) {
		// The authority does not know it as ours, or as replaced already.
		wanted.Replaces = ""
		order, err = again(func() (acme.Order, error) { return i.client.NewOrder(ctx, account, wanted) })
	}
	if err != nil {
		return nil, err
	}
	for _, url := range order.Authorizations {
		if err := i.prove(ctx, account, url, solver); err != nil {
			return nil, err
		}
	}
	if order, err = i.finalize(ctx, account, order, csr); err != nil {
		return nil, err
	}
	chains, err := again(func() ([]acme.Certificate, error) {
		return i.client.GetCertificateChain(ctx, account, order.Certificate)
	})
	if err != nil {
		return nil, err
	}
	return &certmagic.IssuedCertificate{Certificate: chains[0].ChainPEM, Metadata: chains[0]}, nil
}

// replaced names the certificate that an order renews, as RFC 9773 §5 wants it: an
// authority may exempt such orders from its limits. "" when there is none.
func (i *issuer) replaced(ctx context.Context, subject string) string {
	directory, err := i.client.GetDirectory(ctx)
	if err != nil || directory.RenewalInfo == "" {
		return ""
	}
	chain, err := i.storage.Load(ctx, certmagic.StorageKeys.SiteCert(i.IssuerKey(), subject))
	if err != nil {
		return ""
	}
	leaf, err := parseLeaf(chain)
	if err != nil {
		return ""
	}
	id, _ := acme.ARIUniqueIdentifier(leaf)
	return id
}

// prove proves a name to the authority, unless it was proved a short while ago.
func (i *issuer) prove(ctx context.Context, account acme.Account, url string, solver solver) error {
	authorization, err := again(func() (acme.Authorization, error) {
		return i.client.GetAuthorization(ctx, account, url)
	})
	if err != nil || authorization.Status == acme.StatusValid {
		return err
	}
	at := slices.IndexFunc(authorization.Challenges, func(c acme.Challenge) bool { return c.Type == solver.kind })
	if at < 0 {
		return fmt.Errorf("the authority offers no challenge %s", solver.kind)
	}
	challenge := authorization.Challenges[at]
	if err := solver.present(ctx, challenge); err != nil {
		return err
	}
	defer solver.cleanUp(context.WithoutCancel(ctx), challenge)
	if _, err = again(func() (acme.Challenge, error) {
		return i.client.InitiateChallenge(ctx, account, challenge)
	}); err != nil {
		return err
	}
	_, err = again(func() (acme.Authorization, error) {
		return i.client.PollAuthorization(ctx, account, authorization)
	})
	return err
}

// finalize has the certificate of a proved order made.
func (i *issuer) finalize(ctx context.Context, account acme.Account, order acme.Order,
	csr *x509.CertificateRequest) (acme.Order, error) {
	finished, err := i.client.FinalizeOrder(ctx, account, order, csr.Raw)
	for range noncesLost {
		if !isProblem(err, acme.ProblemTypeBadNonce) {
			break
		}
		// The request may have been taken all the same, and the nonces of a look been lost.
		finished, err = again(func() (acme.Order, error) { return i.client.GetOrder(ctx, account, order) })
		for err == nil && finished.Status == acme.StatusProcessing {
			select {
			case <-ctx.Done():
				return finished, ctx.Err()
			case <-time.After(time.Second):
			}
			finished, err = again(func() (acme.Order, error) { return i.client.GetOrder(ctx, account, order) })
		}
		if err == nil && finished.Status == acme.StatusReady {
			finished, err = i.client.FinalizeOrder(ctx, account, order, csr.Raw)
		}
	}
	if err == nil && finished.Status != acme.StatusValid {
		err = fmt.Errorf("the order is %s", finished.Status)
	}
	return finished, err
}

// isWildcard reports whether a subject stands for all hostnames below a zone.
func isWildcard(subject string) bool { return strings.HasPrefix(subject, "*.") }
