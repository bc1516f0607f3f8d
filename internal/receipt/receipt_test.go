package receipt_test

import (
	"errors"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/receipt"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// A key has one receipt for a day, for one credential. From then on there is none, whether or not it is swept, and the
// key can be used again.
func TestReceipt(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB, c *clock.Clock) {
		save := func(credential, body string) error {
			return db.InTx(t.Context(), func(tx *store.Tx) error {
				_, err := receipt.Save(t.Context(), tx, receipt.Receipt{Credential: credential, Key: "key", Fingerprint: "f",
					Status: 201, Header: "{}", Body: []byte(body)})
				return err
			})
		}
		found := func(want string) {
			t.Helper()
			r, err := receipt.Find(t.Context(), db, "ann", "key", c.Now())
			if string(r.Body) != want || err != nil && !errors.Is(err, store.ErrNotFound) || (err == nil) != (want != "") {
				t.Errorf("found %q, %v; want %q", r.Body, err, want)
			}
		}
		sweep := func(want int64) {
			t.Helper()
			if n, err := receipt.Sweep(t.Context(), db, 10); n != want || err != nil {
				t.Errorf("%d receipts are swept, %v; want %d", n, err, want)
			}
		}
		found("")
		if err := save("ann", `"first"`); err != nil {
			t.Fatal(err)
		}
		c.Move(24*time.Hour - time.Microsecond)
		if err := save("ann", `"second"`); !errors.Is(err, receipt.ErrExists) {
			t.Errorf("a second receipt of a key: %v", err)
		}
		sweep(0)
		found(`"first"`)
		if err := save("bob", `"another"`); err != nil {
			t.Errorf("the key of another credential: %v", err)
		}
		c.Move(time.Microsecond)
		found("")
		if err := save("ann", `"third"`); err != nil {
			t.Errorf("the key of an expired receipt: %v", err)
		}
		sweep(0)
		found(`"third"`)
		c.Move(24*time.Hour - time.Microsecond)
		sweep(1) // bob's
		c.Move(time.Microsecond)
		sweep(1)
	})
}
