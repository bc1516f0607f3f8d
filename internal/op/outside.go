package op

import (
	"net/http"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ratelimit"
)

// Person authenticates a call that is no operation of the contract, as if it were one that
// needs a human session, and counts it as a read or a write of the credential and the account.
func (p *Pipeline) Person(r *http.Request, name string) (*actor.Actor, []ratelimit.Standing, error) {
	a, standings, _, err := p.authenticate(r.Context(), r, name)
	if err != nil {
		return nil, standings, err
	}
	category := "write"
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		category = "read"
	}
	now := p.DB.Now()
	standings, admitted, err := p.Limiter.Take(r.Context(), now, []ratelimit.Bucket{
		p.Bucket("entry", "credential", a.Windows), p.Bucket("entry", "account", a.OwnerID),
		p.Bucket(category, "credential", a.Windows), p.Bucket(category, "account", a.OwnerID),
	})
	if err == nil && !admitted {
		err = limited(ratelimit.Tightest(standings), now)
	}
	if err == nil && a.Type != actor.Human {
		err = fault.New(fault.InsufficientPermission, "This needs a human session.")
	}
	return a, standings, err
}

// WriteData writes data in the envelope of a success.
func WriteData(w http.ResponseWriter, requestID string, status int, data []byte) {
	writeEnvelope(w, status, requestID, data, nil)
}
