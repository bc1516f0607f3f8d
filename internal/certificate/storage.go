package certificate

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

const (
	// maxKey and maxValue bound what is stored, in bytes.
	maxKey, maxValue = 1 << 10, 64 << 10
	// loadsAtOnce bounds the database connections that reads of files keep busy.
	loadsAtOnce = 4
	// sites is the folder of the certificates, each in a folder of its own.
	sites = "certificates/"
)

// storage keeps the files of certmagic in the database, for all processes. It is a
// certmagic.Storage in every respect but one: the files of a certificate appear
// together, when the last of them is stored, so that neither a crash nor a reader in
// between leaves a certificate beside the key of another.
type storage struct {
	db *store.DB
	locks
	// loads bounds the reads of files: handshakes make them.
	loads chan struct{}

	// mu guards unfinished: the private keys and certificates whose last file is not
	// there yet, by folder.
	mu         sync.Mutex
	unfinished map[string][]file
}

var (
	_ certmagic.Storage   = (*storage)(nil)
	_ certmagic.TryLocker = (*storage)(nil)
)

func newStorage(db *store.DB) *storage {
	return &storage{db: db, locks: newLocks(db), loads: make(chan struct{}, loadsAtOnce), unfinished: map[string][]file{}}
}

type file struct {
	key   string
	value []byte
}

// Store implements certmagic.Storage.
func (s *storage) Store(ctx context.Context, key string, value []byte) (err error) {
	defer fault.Wrap(&err, "certificate.Store(%q)", key)
	if key == "" || len(key) > maxKey || len(value) > maxValue {
		return fmt.Errorf("a key of %d bytes or a value of %d bytes is too long", len(key), len(value))
	}
	folder, files := path.Dir(key), []file{{key, value}}
	if strings.HasPrefix(key, sites) {
		s.mu.Lock()
		if path.Ext(key) != ".json" { // the last file of a certificate
			s.unfinished[folder] = append(s.unfinished[folder], files...)
			s.mu.Unlock()
			return nil
		}
		files = append(s.unfinished[folder], files...)
		delete(s.unfinished, folder)
		s.mu.Unlock()
	}
	return s.db.InTxReadCommitted(ctx, func(tx *store.Tx) error {
		for _, f := range files {
			if err := f.store(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// store stores a file. Of a certificate it also notes whose it is and when it ends.
func (f *file) store(ctx context.Context, tx *store.Tx) error {
	var subject *string
	var notAfter, renewAt *clock.Instant
	if strings.HasPrefix(f.key, sites) && path.Ext(f.key) == ".crt" {
		leaf, err := parseLeaf(f.value)
		if err != nil {
			return err
		}
		end, due := clock.At(leaf.NotAfter), clock.At(leaf.NotAfter.Add(-lifetime(leaf)/renewalWindow))
		subject, notAfter, renewAt = &leaf.DNSNames[0], &end, &due
	}
	_, err := tx.Exec(ctx, `INSERT INTO certificate_file (key, value, modified_at, subject, not_after, renew_at)
		VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, modified_at = excluded.modified_at, subject = excluded.subject, not_after = excluded.not_after, renew_at = excluded.renew_at`,
		[]byte(f.key), f.value, tx.Now, subject, notAfter, renewAt)
	return err
}

// parseLeaf returns the first certificate of a chain.
func parseLeaf(chain []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(chain)
	if block == nil {
		return nil, errors.New("a certificate is not PEM")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err == nil && len(leaf.DNSNames) == 0 {
		err = errors.New("a certificate names no host")
	}
	return leaf, err
}

func lifetime(c *x509.Certificate) time.Duration { return c.NotAfter.Sub(c.NotBefore) }

// Load implements certmagic.Storage.
func (s *storage) Load(ctx context.Context, key string) (_ []byte, err error) {
	defer fault.Wrap(&err, "certificate.Load(%q)", key)
	select {
	case s.loads <- struct{}{}:
		defer func() { <-s.loads }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	value, err := store.One(ctx, s.db, store.Value[[]byte], "SELECT value FROM certificate_file WHERE key = ?",
		[]byte(key))
	return value, missing(err)
}

// missing returns the error that certmagic expects for a key that is not there.
func missing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fs.ErrNotExist
	}
	return err
}

// below returns the bounds of the keys in a folder: from first on, before last. The
// folder "" has all of them.
func below(folder string) (first, last []byte) {
	if folder == "" {
		return []byte{}, []byte{0xff}
	}
	return []byte(folder + "/"), []byte(folder + string(rune('/'+1)))
}

// Delete implements certmagic.Storage.
func (s *storage) Delete(ctx context.Context, key string) (err error) {
	defer fault.Wrap(&err, "certificate.Delete(%q)", key)
	s.mu.Lock()
	delete(s.unfinished, key)
	delete(s.unfinished, path.Dir(key))
	s.mu.Unlock()
	first, last := below(key)
	_, err = s.db.Exec(ctx, "DELETE FROM certificate_file WHERE key = ? OR (key >= ? AND key < ?)", []byte(key), first,
		last)
	return err
}

// Exists implements certmagic.Storage.
func (s *storage) Exists(ctx context.Context, key string) bool {
	_, err := s.Stat(ctx, key)
	return err == nil
}

// List implements certmagic.Storage.
func (s *storage) List(ctx context.Context, folder string, recursive bool) (_ []string, err error) {
	defer fault.Wrap(&err, "certificate.List(%q)", folder)
	first, last := below(folder)
	all, err := store.All(ctx, s.db, store.Value[[]byte], `SELECT key FROM certificate_file
		WHERE key >= ? AND key < ? ORDER BY key`, first, last)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fs.ErrNotExist
	}
	var keys []string
	seen := map[string]bool{}
	for _, key := range all {
		names := strings.Split(string(key[len(string(first)):]), "/")
		if !recursive {
			names = names[:1]
		}
		for i := range names {
			if found := string(first) + strings.Join(names[:i+1], "/"); !seen[found] {
				seen[found] = true
				keys = append(keys, found)
			}
		}
	}
	return keys, nil
}

// Stat implements certmagic.Storage.
func (s *storage) Stat(ctx context.Context, key string) (info certmagic.KeyInfo, err error) {
	defer fault.Wrap(&err, "certificate.Stat(%q)", key)
	first, last := below(key)
	// A folder is there as long as something is in it.
	info, err = store.One(ctx, s.db, func(r store.Row) (info certmagic.KeyInfo, err error) {
		var modified clock.Instant
		err = r.Scan(&info.IsTerminal, &modified, &info.Size)
		info.Key, info.Modified = key, modified.Time()
		return info, err
	}, `SELECT TRUE, modified_at, LENGTH(value) FROM certificate_file WHERE key = ?
		UNION ALL SELECT * FROM (SELECT FALSE, modified_at, 0 FROM certificate_file WHERE key >= ? AND key < ? LIMIT 1) AS folder`,
		[]byte(key), first, last)
	return info, missing(err)
}
