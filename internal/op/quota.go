package op

import (
	"context"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/ratelimit"
)

// rates are the calls that each window allows in 60 seconds (api-v1.md, Rate
// windows).
var rates = map[string]map[string]int64{
	"entry": {"credential": 1200, "account": 2400, "app": 1200},
	"read":  {"credential": 600, "account": 1200, "app": 600},
	"write": {"credential": 120, "account": 240, "app": 120},
}

const (
	rateWindow = time.Minute
	// addressRate bounds the calls of one address without a valid credential.
	addressRate = 300
)

// Scaled returns a limit multiplied by --limit-scale, at least 1.
func (p *Pipeline) Scaled(limit int64) int64 { return scaled(limit, p.LimitScale) }

// Bucket returns a rate bucket of the contract: category entry, read or write,
// counted by credential, account or app.
func (p *Pipeline) Bucket(category, by, key string) ratelimit.Bucket {
	return ratelimit.Bucket{Name: category, By: by, Key: key, Limit: p.Scaled(rates[category][by]), Window: rateWindow}
}

// Budget is a business limit of an app that some operations draw on, shared by
// all its credentials (api-v1.md, Limits).
type Budget int

// The budgets.
const (
	NoBudget Budget = iota
	LinkCreation
	Uploads
)

// BudgetBuckets returns the windows of a budget: for LinkCreation a minute's and
// an hour's, for Uploads a minute's.
func (p *Pipeline) BudgetBuckets(b Budget, appID string) []ratelimit.Bucket {
	bucket := func(name string, limit int64, window time.Duration) ratelimit.Bucket {
		return ratelimit.Bucket{Name: name, By: "app", Key: appID, Limit: p.Scaled(limit), Window: window}
	}
	switch b {
	case LinkCreation:
		return []ratelimit.Bucket{bucket("link-create", 60, time.Minute), bucket("link-create", 3000, time.Hour)}
	case Uploads:
		return []ratelimit.Bucket{bucket("upload", 20, time.Minute)}
	}
	return nil
}

// take counts the call in the buckets or refuses it, and shows the tightest
// window in the headers.
func (c *callContext) take(buckets ...ratelimit.Bucket) error {
	standings, admitted, err := c.pipeline.Limiter.Take(c.ctx, c.Now, buckets)
	if err != nil {
		return err
	}
	if !admitted {
		c.standings, c.windowFull = standings, true
		return limited(ratelimit.Tightest(standings), c.Now)
	}
	c.standings = append(c.standings, standings...)
	return nil
}

func limited(s ratelimit.Standing, now clock.Instant) error {
	refusal := fault.New(fault.RateLimited, "The %s window of this %s is exhausted.", s.Name, s.By)
	refusal.RetryAfter = s.RetryAfter(now)
	return refusal
}

// takeEntry counts an authenticated call. Its app is not known yet.
func (c *callContext) takeEntry() error {
	return c.take(c.pipeline.Bucket("entry", "credential", c.Actor.Windows),
		c.pipeline.Bucket("entry", "account", c.Actor.OwnerID))
}

// takeQuota counts an admitted read or write, and the call against its app.
func (c *callContext) takeQuota() error {
	category := "read"
	if c.row.mutates {
		category = "write"
	}
	buckets := []ratelimit.Bucket{
		c.pipeline.Bucket(category, "credential", c.Actor.Windows),
		c.pipeline.Bucket(category, "account", c.Actor.OwnerID),
	}
	if c.AppID != "" && c.appReached {
		buckets = append(buckets, c.pipeline.Bucket("entry", "app", c.AppID), c.pipeline.Bucket(category, "app", c.AppID))
		buckets = append(buckets, c.pipeline.BudgetBuckets(c.row.Budget, c.AppID)...)
	}
	return c.take(buckets...)
}

// RateHeaders describes the window closest to exhaustion.
func RateHeaders(h http.Header, standings []ratelimit.Standing) {
	if len(standings) == 0 {
		return
	}
	s := ratelimit.Tightest(standings)
	h.Set("X-RateLimit-Limit", strconv.FormatInt(s.Limit, 10))
	h.Set("X-RateLimit-Remaining", strconv.FormatInt(s.Remaining(), 10))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(s.Reset.Unix(), 10))
	h.Set("X-RateLimit-Policy", s.Policy())
}

// addressBucket counts calls of a client that no credential bounds. An IPv6
// client has a whole /64 to itself.
func (p *Pipeline) addressBucket(a netip.Addr) ratelimit.Bucket {
	return ratelimit.Bucket{Name: "address", By: "address", Key: clientaddr.Network(a).String(), Limit: p.Scaled(addressRate),
		Window: rateWindow}
}

// addressFull returns the refusal of a caller whose address had too many
// refusals in this window.
func (p *Pipeline) addressFull(ctx context.Context, r *http.Request) ([]ratelimit.Standing, error) {
	now := p.DB.Now()
	standings, err := p.addresses.Peek(ctx, now, []ratelimit.Bucket{p.addressBucket(p.ClientAddr(r))})
	if err != nil || standings[0].Remaining() > 0 {
		return nil, err
	}
	return standings, limited(standings[0], now)
}

// CountAddress counts a call without a valid credential, and returns a refusal
// when its address had too many (completions.md §11, Per-address protection).
func (p *Pipeline) CountAddress(r *http.Request) ([]ratelimit.Standing, error) {
	now := p.DB.Now()
	standings, admitted, err := p.addresses.Take(r.Context(), now, []ratelimit.Bucket{p.addressBucket(p.ClientAddr(r))})
	if err == nil && !admitted {
		err = limited(standings[0], now)
	}
	return standings, err
}
