package analytics

import (
	"context"
	"slices"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/op"
)

// Recovery is the data of getAnalyticsRecovery.
type Recovery struct {
	Common
	Totals  RecoveryTotals   `json:"totals"`
	Buckets []RecoveryBucket `json:"buckets" doc:"By days of the time zone."`
}

// SchemaName implements schema.Named.
func (Recovery) SchemaName() string { return "AnalyticsRecovery" }

// RecoveryCounts are the numbers of recovery tokens.
type RecoveryCounts struct {
	Created int64 `json:"created" doc:"Tokens that visitors took along to a store."`
	Matched int64 `json:"matched" doc:"Tokens by which an app found its link, created in the period or before it."`
}

// RecoveryTotals are the numbers of a whole period.
type RecoveryTotals struct {
	RecoveryCounts
	Expired   int64    `json:"expired" doc:"An estimate of the tokens of the period that can be matched no more and were not: those created less those matched until one lifetime ago, and never more than created less matched."`
	MatchRate *float64 `json:"matchRate" minimum:"0" maximum:"9007199254740991" doc:"matched divided by created; null without a token created. Tokens created before the period can bring it above 1."`
}

// SchemaName implements schema.Named.
func (RecoveryTotals) SchemaName() string { return "AnalyticsRecoveryTotals" }

// RecoveryBucket counts the recovery tokens of a day.
type RecoveryBucket struct {
	Unit
	RecoveryCounts
}

// SchemaName implements schema.Named.
func (RecoveryBucket) SchemaName() string { return "AnalyticsRecoveryBucket" }

func (s *service) recovery(ctx context.Context, c *op.Call, in *Query) (op.Item[Recovery], error) {
	a, err := in.ask(ctx, c, "")
	if err != nil {
		return op.Item[Recovery]{}, err
	}
	lifetime, err := domain.RecoveryLifetime(ctx, c.DB, a.AppID, a.Hostname)
	if err != nil {
		return op.Item[Recovery]{}, err
	}
	units := a.units(days)
	// Tokens created before this instant have expired. It parts a day in two.
	expired := c.Now.Add(-lifetime) + 1
	parts := bounds(units, a.end)
	if i, found := slices.BinarySearch(parts, expired); !found && 0 < i && i < len(parts) {
		parts = slices.Insert(parts, i, expired)
	}
	rows, err := eventstore.Count(ctx, s.events, eventstore.Query{Filter: a.Filter,
		Grouping: eventstore.Grouping{By: eventstore.Time, Bounds: parts}})
	if err != nil {
		return op.Item[Recovery]{}, err
	}
	return op.Item[Recovery]{Data: recoveryOf(a.common, units, parts, rows, expired)}, nil
}

// recoveryOf adds up the rows of parts of units; tokens created before expired have
// expired.
func recoveryOf(common Common, units []Unit, parts []clock.Instant, rows []eventstore.Row,
	expired clock.Instant) Recovery {
	r := Recovery{Common: common, Buckets: make([]RecoveryBucket, len(units))}
	for i, unit := range units {
		r.Buckets[i].Unit = unit
	}
	var all, old RecoveryCounts
	for _, row := range rows {
		part := parts[row.Period]
		i, begins := slices.BinarySearchFunc(units, part, func(u Unit, at clock.Instant) int { return int(u.Start - at) })
		if !begins {
			i--
		}
		r.Buckets[i].add(&row)
		all.add(&row)
		if part < expired {
			old.add(&row)
		}
	}
	r.Totals = RecoveryTotals{RecoveryCounts: all,
		Expired: max(0, min(old.Created-old.Matched, all.Created-all.Matched))}
	if all.Created > 0 {
		rate := float64(all.Matched) / float64(all.Created)
		r.Totals.MatchRate = &rate
	}
	return r
}

func (c *RecoveryCounts) add(r *eventstore.Row) {
	c.Created += r.RecoveriesCreated
	c.Matched += r.RecoveriesMatched
}
