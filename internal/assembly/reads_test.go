package assembly

import (
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/turns"
)

// failing is an engine that fails.
type failing struct {
	eventstore.Engine
	err error
}

func (f *failing) Count(context.Context, eventstore.Filter, ...eventstore.Grouping) ([][]eventstore.Row, error) {
	return make([][]eventstore.Row, 1), f.err
}

// Reads that their deadline ended are counted, others that failed are not.
func TestSlowReads(t *testing.T) {
	r := prometheus.NewRegistry()
	f := &failing{}
	e := observe(f, r)
	for _, f.err = range []error{nil, turns.ErrSlow, turns.ErrBusy, errors.New("damaged"), turns.ErrSlow} {
		if _, err := eventstore.Count(t.Context(), e, eventstore.Query{}); !errors.Is(err, f.err) {
			t.Error(err)
		}
	}
	metrics, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range metrics {
		if m.GetName() == "waymark_event_reads_slow_total" && m.GetMetric()[0].GetCounter().GetValue() == 2 {
			return
		}
	}
	t.Errorf("two slow reads are not counted: %v", metrics)
}
