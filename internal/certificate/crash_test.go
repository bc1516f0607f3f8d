package certificate

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/certificate/pebbletest"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// Variables that make the test program sweep an installation until it is killed.
const (
	envDatabase, envDirectory, envRoot = "CERTIFICATE_DATABASE", "CERTIFICATE_DIRECTORY", "CERTIFICATE_ROOT"
)

func TestMain(m *testing.M) {
	if os.Getenv(envDatabase) != "" {
		if err := sweepUntilKilled(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func sweepUntilKilled() error {
	ctx := context.Background()
	db, err := store.Open(ctx, os.Getenv(envDatabase), &clock.Clock{})
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(os.Getenv(envRoot)))
	return New(Options{DB: db, Log: slog.Default(), Directory: os.Getenv(envDirectory), Roots: roots, HTTP: true,
		Serves: func(string) bool { return true }}).Sweep(ctx)
}

// TestRenewalSurvivesKill kills a process with -9 in the middle of an order. Another one
// makes the certificate: on SQLite when it starts, on PostgreSQL when the leases end, and
// not before.
func TestRenewalSurvivesKill(t *testing.T) {
	for _, engine := range storetest.Engines {
		t.Run(engine, func(t *testing.T) {
			address, c := storetest.Address(t, engine), &clock.Clock{}
			realTime(c)
			db := storetest.Open(t, address, c)
			i := newInstallation(t, db, nil)
			now := c.Now().Time()
			i.seed(t, "a.example", now.Add(-80*day), now.Add(10*day))

			reached := make(chan struct{}, 1)
			stall := func(r *http.Request) {
				if strings.HasPrefix(r.URL.Path, "/finalize-order/") {
					pebbletest.Payload(r) // only after this the server notices that the client is gone
					reached <- struct{}{}
					<-r.Context().Done() // the process is gone
				}
			}
			i.Before.Store(&stall)
			victim := exec.Command(os.Args[0])
			root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Authority.Root})
			victim.Env = append(os.Environ(), envDatabase+"="+address, envDirectory+"="+i.Authority.Directory,
				envRoot+"="+string(root))
			victim.Stderr, victim.SysProcAttr = os.Stderr, &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			if err := victim.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-reached:
			case <-time.After(time.Minute):
				t.Error("no order was made")
			}
			victim.Process.Kill()
			victim.Wait()
			i.Before.Store(nil)
			i.wantOrders(t, 1)

			sweep := func(orders int64) {
				t.Helper()
				if err := i.Sweep(t.Context()); err != nil {
					t.Fatal(err)
				}
				i.wantOrders(t, orders)
			}
			sweep(1)
			if engine == "sqlite" {
				if err := TakeOver(t.Context(), db); err != nil {
					t.Fatal(err)
				}
			} else {
				c.Set((&clock.Clock{}).Now().Add(Lease + time.Second))
			}
			sweep(2)
			if names := i.mustVisit(t, "a.example").PeerCertificates[0].DNSNames; names[0] != "a.example" {
				t.Errorf("certificate of %q", names)
			}
			sweep(2)
			for _, table := range []string{"certificate_lock", "certificate_failure", "certificate_challenge"} {
				if left, err := store.Exists(t.Context(), db, "SELECT 1 FROM "+table); left || err != nil {
					t.Errorf("rows left in %s: %t, %v", table, left, err)
				}
			}
		})
	}
}
