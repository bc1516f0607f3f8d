package eventstore

import (
	"sync"

	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/store"
)

// Store keeps events in the main database. It is safe for concurrent use, and
// several processes may each have one on the same database.
type Store struct {
	db *store.DB

	mu sync.RWMutex
	// known remembers numbers of the small tables that are committed, so that
	// loading reads none of them in the steady state.
	known [dimensions]map[string]int64
}

// Open returns the Store in db, which must be migrated.
func Open(db *store.DB) *Store {
	s := &Store{db: db}
	for i := range s.known {
		s.known[i] = map[string]int64{}
	}
	return s
}

// Types and destinations are stored as their place in these lists, for good:
// only append. Place 0 is what a newer version may have written to the log.
var (
	types = []clicklog.EventType{
		"", clicklog.Click, clicklog.AppOpen, clicklog.ContentView, clicklog.LegacyContentLoad,
		clicklog.RecoveryCreated, clicklog.RecoveryMatched,
	}
	destinations = []string{"none", "web", "store", "app", "page"}
)

// The places of types that queries name.
const (
	typeClick             = 1
	typeAppOpen           = 2
	typeContentView       = 3
	typeLegacyContentLoad = 4
)
