package clickhouse_test

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse"
	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse/clickhousetest"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
)

// open returns a Store at an address, closed when the test ends.
func open(t *testing.T, address string) *clickhouse.Store {
	t.Helper()
	s, err := clickhouse.Open(address, &clock.Clock{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestEngine(t *testing.T) {
	address := clickhousetest.Address(t)
	enginetest.RunWithoutTransactions(t, func(t *testing.T) eventstore.Engine { return open(t, address) })
}
