package visitor

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/retention"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	day = 24 * time.Hour
	// saltAge is how long after its day began a salt is destroyed.
	saltAge = 2 * day
	// renewEvery and retryEvery are the waits after a success and a failure.
	renewEvery = time.Hour
	retryEvery = 10 * time.Second
)

// Salts holds the secret keys of the visitor hash: one for each UTC day,
// shared by all processes through the database and made a day ahead, so that
// midnight does not need the database. They are never shown or logged.
type Salts struct {
	db  *store.DB
	log *slog.Logger

	mu   sync.Mutex // held by writers of held
	held atomic.Pointer[[]salt]
	// shared tells that held was read from db since the start.
	shared atomic.Bool
}

type salt struct {
	startsAt clock.Instant
	key      [sha256.Size]byte
}

// NewSalts returns the salts of db. Run must run for them to be shared.
func NewSalts(db *store.DB, log *slog.Logger) *Salts {
	s := &Salts{db: db, log: log}
	s.held.Store(&[]salt{})
	return s
}

// Run makes, loads and destroys salts until ctx is done.
func (s *Salts) Run(ctx context.Context) {
	replaced := s.db.Listen(store.HistoryTopic)
	for {
		wait := renewEvery
		if err := s.renew(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("salts of the visitor hash cannot be renewed", "error", err)
			wait = retryEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-replaced: // by an older copy, which may have other salts
		case <-time.After(wait):
		}
	}
}

// renew brings database and memory up to date.
func (s *Salts) renew(ctx context.Context) (err error) {
	defer fault.Wrap(&err, "visitor.Salts.renew")
	ctx, cancel := context.WithTimeout(ctx, retryEvery)
	defer cancel()
	today := startOfDay(s.db.Now())
	s.forget(today)
	stored, err := store.All(ctx, s.db, scanSalt, "SELECT starts_at, salt FROM visitor_salt ORDER BY starts_at")
	if err != nil {
		return err
	}
	expired := slices.ContainsFunc(stored, func(one salt) bool { return one.startsAt <= today.Add(-saltAge) })
	has := func(at clock.Instant) bool {
		return slices.ContainsFunc(stored, func(one salt) bool { return one.startsAt == at })
	}
	if expired {
		if err := retention.Holds(ctx, s.db); err != nil {
			s.log.Warn("salts of past days are kept until sweeps go on", "error", err)
			expired = false
		}
	}
	if tomorrow := today.Add(day); expired || !has(today) || !has(tomorrow) {
		err = s.db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
			if expired {
				if _, err := tx.Exec(ctx, "DELETE FROM visitor_salt WHERE starts_at <= ?",
					today.Add(-saltAge)); err != nil {
					return err
				}
			}
			for _, at := range []clock.Instant{today, tomorrow} {
				key := newKey()
				if _, err := tx.Exec(ctx, `INSERT INTO visitor_salt (starts_at, salt) VALUES (?, ?)
					ON CONFLICT (starts_at) DO NOTHING`,
					at, hex.EncodeToString(key[:])); err != nil {
					return err
				}
			}
			stored, err = store.All(ctx, tx, scanSalt, "SELECT starts_at, salt FROM visitor_salt ORDER BY starts_at")
			return err
		})
		if err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored = slices.DeleteFunc(stored, func(one salt) bool { return one.startsAt < today })
	s.held.Store(&stored)
	s.shared.Store(true)
	return nil
}

// Ready reports whether the salts that all processes share have been read since the start.
func (s *Salts) Ready() bool { return s.shared.Load() }

func scanSalt(r store.Row) (one salt, err error) {
	var text string
	if err := r.Scan(&one.startsAt, &text); err != nil {
		return one, err
	}
	if n, err := hex.Decode(one.key[:], []byte(text)); err != nil || n != len(one.key) {
		// The text stays out of the message.
		return one, fmt.Errorf("the salt of %s is damaged", one.startsAt)
	}
	return one, nil
}

// forget drops the keys of past days from memory, also while the database is
// away.
func (s *Salts) forget(today clock.Instant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(*s.held.Load()), func(one salt) bool { return one.startsAt < today })
	s.held.Store(&rest)
}

// key returns the salt of an instant's day. If this process could not read it
// (the database was away since the start, or for more than a day), it makes a
// salt of its own. Until the shared salt is known, a visitor of two processes
// then counts as two.
func (s *Salts) key(now clock.Instant) *[sha256.Size]byte {
	at := startOfDay(now)
	if k := find(*s.held.Load(), at); k != nil {
		return k
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	held := *s.held.Load()
	if k := find(held, at); k != nil {
		return k
	}
	s.log.Warn("the shared salt of the visitor hash is not known, using one of this process", "day", at)
	held = append(slices.Clone(held), salt{startsAt: at, key: newKey()})
	s.held.Store(&held)
	return &held[len(held)-1].key
}

func find(held []salt, at clock.Instant) *[sha256.Size]byte {
	for i := range held {
		if held[i].startsAt == at {
			return &held[i].key
		}
	}
	return nil
}

func newKey() (key [sha256.Size]byte) {
	rand.Read(key[:]) // never fails
	return key
}

func startOfDay(i clock.Instant) clock.Instant { return i - i%clock.Instant(day/time.Microsecond) }

// Hash returns the hash of a visitor: the first 64 bits of
// SHA-256(salt, address, user agent). The first two have a fixed length, so no
// two visitors have the same input; and since the rest of the sum is thrown
// away it cannot be extended, which is all that HMAC would add at twice the
// cost.
func (s *Salts) Hash(now clock.Instant, address netip.Addr, agent string) int64 {
	var room [sha256.Size + 16 + maxAgent]byte
	key, bytes := s.key(now), address.As16()
	b := append(room[:0], key[:]...)
	b = append(b, bytes[:]...)
	b = append(b, agent...)
	sum := sha256.Sum256(b)
	return int64(binary.BigEndian.Uint64(sum[:]))
}
