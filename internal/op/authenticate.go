package op

import (
	"context"
	"net/http"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ratelimit"
)

func (c *callContext) authenticate() (err error) {
	c.Actor, c.standings, c.windowFull, err = c.pipeline.authenticate(c.ctx, c.r, c.row.ID)
	return err
}

// authenticate finds out who calls an operation. A refusal is counted for the caller's
// address; full tells that there were too many.
func (p *Pipeline) authenticate(ctx context.Context, r *http.Request, operation string) (a *actor.Actor,
	standings []ratelimit.Standing, full bool, err error) {
	authorization, sent, err := header(r, "Authorization")
	switch cookie := p.Site.Session(r); {
	case err != nil:
	case !sent && cookie != "":
		a, err = p.Auth.Browser(ctx, cookie, p.Site.Own(r))
	default:
		// Skip the costly check for an address that has been refused too often.
		if !p.Auth.Cheap(authorization) {
			if standings, err = p.addressFull(ctx, r); err != nil {
				return nil, standings, len(standings) > 0, err
			}
		}
		a, err = p.Auth.Authenticate(ctx, authorization)
	}
	if refusal, ok := fault.From(err); ok && refusal.Code != fault.Unavailable {
		standings, refused := p.CountAddress(r)
		if refused != nil {
			return nil, standings, true, refused
		}
		// An address cannot cause more log lines than it has calls.
		p.Log.Info("call refused", "operation", operation, "request_id", RequestID(r.Context()), "cause", err)
		return nil, standings, false, err
	}
	return a, nil, false, err
}
