package database

import (
	"context"

	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/turns"
)

// Store keeps events in the main database. It is safe for concurrent use, and
// several processes may each have one on the same database.
type Store struct {
	db      *store.DB
	numbers *eventstore.Numbers
	turns   *turns.Pool
	guard   eventstore.Guard
}

// Open returns the Store in db, which must be migrated.
func Open(db *store.DB) *Store {
	return &Store{db: db, numbers: eventstore.NewNumbers(), turns: turns.New(db.LongReads())}
}

// Share makes the queries of s take their turns from t, before the first of them.
func (s *Store) Share(t *turns.Pool) { s.turns = t }

// Guard makes each Append ask g, before the first of them.
func (s *Store) Guard(g eventstore.Guard) { s.guard = g }

// long returns the rows of a query that reads many events of an app, when its turn has
// come.
func long[T any](ctx context.Context, s *Store, account string, scan func(store.Row) (T, error), query string,
	args ...any) (rows []T, err error) {
	err = s.turns.Do(ctx, account, func(ctx context.Context, turn *turns.Turn) error {
		return turn.Each(ctx, 1, func(int, int) (err error) {
			rows, err = store.All(ctx, s.db.Long(), scan, query, args...)
			return err
		})
	})
	return rows, err
}

// The places of types that queries name.
const (
	typeClick             = 1
	typeAppOpen           = 2
	typeContentView       = 3
	typeLegacyContentLoad = 4
	typeRecoveryCreated   = 5
	typeRecoveryMatched   = 6
)
