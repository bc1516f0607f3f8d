package certificate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const day = 24 * time.Hour

// renewTickets gives the listeners the keys of session tickets, so that a visitor goes
// on at any process where it began at another. Each UTC day has a key of its own, made a
// day ahead; it opens tickets for one day more and is then destroyed: nobody who takes
// the database later reads what was sent under it.
func (m *Manager) renewTickets(ctx context.Context) (err error) {
	defer fault.Wrap(&err, "certificate.renewTickets")
	today := clock.At(m.DB.Now().Time().Truncate(day))
	read := func(q store.Q) ([]ticketKey, error) {
		return store.All(ctx, q, scanTicketKey, "SELECT starts_at, key FROM session_ticket_key ORDER BY starts_at")
	}
	keys, err := read(m.DB)
	has := func(at clock.Instant) bool {
		return slices.ContainsFunc(keys, func(k ticketKey) bool { return k.startsAt == at })
	}
	if err == nil && (!has(today) || !has(today.Add(day)) || keys[0].startsAt < today.Add(-day)) {
		err = m.DB.InTxReadCommitted(ctx, func(tx *store.Tx) error {
			if _, err := tx.Exec(ctx, "DELETE FROM session_ticket_key WHERE starts_at < ?",
				today.Add(-day)); err != nil {
				return err
			}
			for _, at := range []clock.Instant{today, today.Add(day)} {
				var key [32]byte
				rand.Read(key[:])
				if _, err := tx.Exec(ctx, `INSERT INTO session_ticket_key (starts_at, key) VALUES (?, ?)
					ON CONFLICT DO NOTHING`, at, hex.EncodeToString(key[:])); err != nil {
					return err
				}
			}
			keys, err = read(tx)
			return err
		})
	}
	if err != nil {
		return err
	}
	// The first key makes tickets, all of them open tickets.
	slices.SortFunc(keys, func(a, b ticketKey) int {
		if a.startsAt == today {
			return -1
		}
		if b.startsAt == today {
			return 1
		}
		return int(a.startsAt - b.startsAt)
	})
	var all [][32]byte
	for _, k := range keys {
		all = append(all, k.key)
	}
	if held := m.tickets.Swap(&all); held == nil || !slices.Equal(*held, all) {
		m.tls.SetSessionTicketKeys(all)
	}
	return nil
}

// ticketKey is the key of a day.
type ticketKey struct {
	startsAt clock.Instant
	key      [32]byte
}

func scanTicketKey(r store.Row) (k ticketKey, err error) {
	var text string
	if err := r.Scan(&k.startsAt, &text); err != nil {
		return k, err
	}
	if n, err := hex.Decode(k.key[:], []byte(text)); err != nil || n != len(k.key) {
		return k, errors.New("a key of session tickets is damaged") // it stays out of the message
	}
	return k, nil
}
