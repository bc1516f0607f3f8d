package certificate

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/waymarkhq/waymark/internal/certificate/pebbletest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/retention"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// TestRenewal renews a certificate that nobody visits, once, and tells the authority
// which one it replaces.
func TestRenewal(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		realTime(c)
		// certmagic, which has its own clock, renews whatever ends within fifty minutes.
		i := newInstallationWith(t, db, pebbletest.Settings{Validity: 45 * time.Minute}, nil)
		if err := i.Obtain(t.Context(), "a.example"); err != nil {
			t.Fatal(err)
		}
		serial := func() string {
			t.Helper()
			chain, err := i.storage.Load(t.Context(), string(i.key("a.example")))
			if err != nil {
				t.Fatal(err)
			}
			leaf, err := parseLeaf(chain)
			if err != nil {
				t.Fatal(err)
			}
			return leaf.SerialNumber.String()
		}
		first := serial()
		sweep := func(orders int64) {
			t.Helper()
			if err := i.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			i.wantOrders(t, orders)
		}
		c.Move(29 * time.Minute)
		sweep(1)
		c.Move(2 * time.Minute)
		sweep(2)
		if serial() == first {
			t.Error("the certificate is the old one")
		}
		if i.Renewals.Load() == 0 {
			t.Error("the authority was not told what is replaced")
		}
	})
}

// TestUnwantedCertificates are not renewed, and go when they have expired.
func TestUnwantedCertificates(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		realTime(c)
		served := true
		i := newInstallation(t, db, func(_ *installation, o *Options) {
			o.Serves = func(string) bool { return served }
		})
		now := c.Now().Time()
		i.seed(t, "left.example", now.Add(-80*day), now.Add(10*day))
		i.seed(t, "fresh.example", now, now.Add(90*day))
		served = false
		files := func() []string {
			t.Helper()
			keys, err := i.storage.List(t.Context(), certmagic.StorageKeys.CertsPrefix(i.issuer.IssuerKey()), false)
			if err != nil {
				t.Fatal(err)
			}
			for n, key := range keys {
				keys[n] = key[strings.LastIndex(key, "/")+1:]
			}
			return keys
		}
		for _, move := range []time.Duration{0, 10*day - time.Hour, 2 * time.Hour} {
			if want := []string{"fresh.example", "left.example"}; !slices.Equal(files(), want) {
				t.Errorf("%q, want %q", files(), want)
			}
			c.Move(move)
			if err := i.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"fresh.example"}; !slices.Equal(files(), want) {
			t.Errorf("%q, want %q", files(), want)
		}
		// While the clock may have jumped, none is over.
		c.Move(100 * day)
		var jump *retention.Jump
		if err := i.Manager.Sweep(t.Context()); !errors.As(err, &jump) || len(files()) != 1 {
			t.Errorf("after a jump: %v, left are %q", err, files())
		}
		if err := i.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if n, err := store.One(t.Context(), db, store.Value[int64],
			"SELECT COUNT(*) FROM certificate_file WHERE not_after IS NOT NULL"); n != 0 || err != nil {
			t.Errorf("%d certificates are left: %v", n, err)
		}
		i.wantOrders(t, 0)
	})
}

// Sweep is Manager.Sweep in an installation whose sweeps go on.
func (i *installation) Sweep(ctx context.Context) error {
	if err := retention.Begin(ctx, i.DB, true); err != nil {
		return err
	}
	return i.Manager.Sweep(ctx)
}

// TestSweepAtStart renews nothing and removes nothing before it is known which hostnames
// are served. A hostname that is away for a moment is renewed a day later at the latest.
func TestSweepAtStart(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		realTime(c)
		served, ready := false, false
		i := newInstallation(t, db, func(_ *installation, o *Options) {
			o.Serves, o.Ready = func(string) bool { return served }, func() bool { return ready }
		})
		now := c.Now().Time()
		i.seed(t, "due.example", now.Add(-80*day), now.Add(10*day))
		i.seed(t, "expired.example", now.Add(-90*day), now.Add(-time.Hour))
		sweep := func(orders int64) {
			t.Helper()
			if err := i.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			i.wantOrders(t, orders)
		}
		sweep(0)
		served, ready = true, true
		sweep(2)

		i.seed(t, "away.example", now.Add(-80*day), now.Add(10*day))
		served = false
		sweep(2)
		served = true
		c.Move(day - time.Millisecond)
		sweep(2)
		c.Move(time.Millisecond)
		sweep(3)
	})
}

// TestSweepGoesOn renews what is due though a certificate of the installation is damaged.
func TestSweepGoesOn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		realTime(c)
		i := newInstallation(t, db, func(_ *installation, o *Options) { o.Own = []string{"own.example"} })
		now := c.Now().Time()
		i.seed(t, "own.example", now.Add(-90*day), now.Add(-time.Hour))
		key := strings.TrimSuffix(string(i.key("own.example")), ".crt") + ".key"
		if n, err := db.Exec(t.Context(), "UPDATE certificate_file SET value = ? WHERE key = ?", []byte("damaged"),
			[]byte(key)); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		i.seed(t, "due.example", now.Add(-80*day), now.Add(10*day))
		if err := i.Sweep(t.Context()); err == nil || isFailure(err) {
			t.Errorf("the damaged certificate is not told: %v", err)
		}
		due, err := store.One(t.Context(), db, scanStored,
			"SELECT key, subject, not_after FROM certificate_file WHERE key = ?", i.key("due.example"))
		if err != nil || due.notAfter < c.Now().Add(11*day) {
			t.Errorf("the certificate that is due ends at %v: %v", due.notAfter, err)
		}
	})
}
