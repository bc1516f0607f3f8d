package redirect

import (
	"context"
	"hash/maphash"
	"net/netip"
	"strconv"
	"time"

	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/ratelimit"
)

// endpoint is what apps call, and where visitors go who want an app.
type endpoint string

// The endpoints.
const (
	resolveEndpoint endpoint = "resolve"
	recoverEndpoint endpoint = "recover"
	eventsEndpoint  endpoint = "events"
	installEndpoint endpoint = "install"
)

// rates are the calls that one address may make in a minute. Phones of a mobile network
// share addresses, so they are far above what one app does.
var rates = map[endpoint]int64{
	resolveEndpoint: 120, recoverEndpoint: 20, eventsEndpoint: 60, installEndpoint: 60,
}

// rateSlots bounds the counters of an endpoint. Two addresses may share one, rarely.
const rateSlots = 1 << 16

// quotas count the calls of addresses, in this process alone, without the addresses:
// a counter is found by a hash whose seed nobody knows.
type quotas struct {
	limiter *ratelimit.Memory
	seed    maphash.Seed
	scale   float64
}

func newQuotas(scale float64) *quotas {
	return &quotas{limiter: ratelimit.NewMemory(), seed: maphash.MakeSeed(), scale: scale}
}

// take counts a call. A call above the limit may be repeated after retryAfter seconds;
// 0 admits it.
func (q *quotas) take(ctx context.Context, now clock.Instant, e endpoint, a netip.Addr) (retryAfter int) {
	slot := maphash.Comparable(q.seed, clientaddr.Network(a).As16()) % rateSlots
	bucket := ratelimit.Bucket{Name: string(e), By: "address", Key: strconv.FormatUint(slot, 36),
		Limit: max(1, int64(float64(rates[e])*q.scale)), Window: time.Minute}
	standings, admitted, err := q.limiter.Take(ctx, now, []ratelimit.Bucket{bucket})
	if err != nil || admitted { // counters in memory do not fail
		return 0
	}
	return standings[0].RetryAfter(now)
}
