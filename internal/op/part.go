package op

import (
	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/audit"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/receipt"
	"github.com/waymarkhq/waymark/internal/requestlog"
)

// Part returns what the pipeline itself keeps. When an app is deleted, all of
// it stays until the end of its retention.
func Part() part.Part {
	return part.Part{
		Name: "op",
		Sweeps: []part.Sweep{
			{Name: "sessions", Run: actor.SweepSessions},
			{Name: "addresses that sign in", Run: actor.SweepLinks},
			{Name: "receipts", Run: receipt.Sweep},
			{Name: "audit events", Run: audit.Sweep},
			{Name: "request records", Run: requestlog.Sweep},
			{Name: "rate windows", Run: ratelimit.Sweep},
		},
		OfApp: part.OfApp{Tables: []string{"audit_event", "request_record", "receipt"}},
	}
}
