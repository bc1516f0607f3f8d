package redirect

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// databaseTimeout bounds how long an app waits for the database.
	databaseTimeout = 2 * time.Second
	// keysRetry is the wait after the keys could not be read.
	keysRetry = 5 * time.Second
	// usedKept is how long a used token is remembered after it expired: longer than the
	// clocks of two processes differ.
	usedKept = 24 * time.Hour
)

// Part returns what the redirector keeps besides routes and clicks.
func Part() part.Part {
	return part.Part{Name: "redirect", Sweeps: []part.Sweep{{Name: "used recovery tokens", Run: SweepRecoveries}}}
}

// SweepRecoveries removes at most limit used tokens that expired more than a day ago.
func SweepRecoveries(ctx context.Context, db *store.DB, limit int) (_ int64, err error) {
	defer fault.Wrap(&err, "redirect.SweepRecoveries")
	return db.Exec(ctx, `DELETE FROM recovery_used WHERE token IN (SELECT token FROM recovery_used WHERE expires_at < ?
		ORDER BY expires_at LIMIT ?)`, db.Now().Add(-usedKept), limit)
}

// keys are the secrets of the installation that all its processes share. They are
// never shown or logged.
type keys struct {
	// recovery signs tokens; installs hashes the install ids of apps.
	recovery, installs [sha256.Size]byte
	// history is the one of the database that has them.
	history int64
}

// recoveries knows the keys, and which tokens were used.
type recoveries struct {
	db *store.DB
	// loading is held by the one who reads the keys.
	loading chan struct{}
	held    atomic.Pointer[keys]
}

func newRecoveries(db *store.DB) *recoveries {
	return &recoveries{db: db, loading: make(chan struct{}, 1)}
}

// run reads the keys as soon as the database is there, so that no visitor has to wait
// for them.
func (s *recoveries) run(ctx context.Context) {
	for {
		if _, err := s.keys(ctx); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(keysRetry):
		}
	}
}

// keys returns the keys, which are read on their first use.
func (s *recoveries) keys(ctx context.Context) (_ *keys, err error) {
	if k := s.known(); k != nil {
		return k, nil
	}
	defer fault.Wrap(&err, "redirect.keys")
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	select {
	case s.loading <- struct{}{}:
		defer func() { <-s.loading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if k := s.known(); k != nil {
		return k, nil
	}
	k := &keys{history: s.db.History()}
	for name, key := range map[string]*[sha256.Size]byte{"recovery_key": &k.recovery, "install_key": &k.installs} {
		rand.Read(key[:]) // never fails
		value, err := s.db.InstallationValue(ctx, name, hex.EncodeToString(key[:]))
		if err != nil {
			return nil, err
		}
		shared, err := hex.DecodeString(value)
		if err != nil || len(shared) != len(key) {
			return nil, errors.New("the value " + name + " of the installation is damaged") // without the value
		}
		copy(key[:], shared)
	}
	s.held.Store(k)
	return k, nil
}

// known returns the keys if they are known: an older copy that takes the place of the
// database may have none yet.
func (s *recoveries) known() *keys {
	if k := s.held.Load(); k != nil && k.history == s.db.History() {
		return k
	}
	return nil
}

// use takes a token for good. It reports whether this call was the first one of all
// processes: only one of them adds the row.
func (s *recoveries) use(ctx context.Context, t *token) (first bool, err error) {
	defer fault.Wrap(&err, "redirect.use")
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	n, err := s.db.Exec(ctx, "INSERT INTO recovery_used (token, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
		t.digest, t.expires)
	return n == 1, err
}

// installHash returns what stands for an installation of an app in analytics: the same
// on every day, another one in each app, and never 0, which stands for none.
func installHash(key *[sha256.Size]byte, appID, installID string) int64 {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(appID + "\x00" + installID))
	return cmp.Or(int64(binary.BigEndian.Uint64(mac.Sum(nil))), 1)
}

// InstallHash returns the hash that stands for an install id of an app in analytics, as
// events carry it.
func InstallHash(ctx context.Context, db *store.DB, appID, installID string) (int64, error) {
	k, err := newRecoveries(db).keys(ctx)
	if err != nil {
		return 0, err
	}
	return installHash(&k.installs, appID, installID), nil
}
