package domain_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/store/storetest"
)

// BenchmarkVerifications creates links while a thousand domains are verified, and
// without. It reports how many links per second each gives, and how long the
// verifications take.
func BenchmarkVerifications(b *testing.B) {
	for _, engine := range storetest.Engines {
		b.Run(engine, func(b *testing.B) {
			w := newWorld(b, engine, apitest.Options{})
			w.add(b, "* CNAME connect."+apitest.Zone+".")
			for i := range 10 {
				w.due(b, w.Prepared(b, fmt.Sprintf("owner%d@example.com", i)), names(fmt.Sprintf("o%d-", i), 100)...)
			}
			c := w.Prepared(b, "ann@example.com")
			var slugs atomic.Int64
			// create creates links from four clients until done is closed, and returns how
			// many per second.
			create := func(done <-chan struct{}) float64 {
				began, before := time.Now(), slugs.Load()
				var clients sync.WaitGroup
				for range 4 {
					clients.Go(func() {
						for {
							select {
							case <-done:
								return
							default:
							}
							r := httptest.NewRequest("POST", "https://api.example/v1/links", strings.NewReader(fmt.Sprintf(
								`{"appId":%q,"domain":%q,"slug":"s%d","desktopUrl":"https://example.com/"}`, c.AppID, c.Host,
								slugs.Add(1))))
							r.Header.Set("Content-Type", "application/json")
							r.Header.Set("Authorization", "Bearer "+c.Credential)
							r.Header.Set("Idempotency-Key", apitest.NewKey())
							recorder := httptest.NewRecorder()
							if w.API.ServeHTTP(recorder, r); recorder.Code != http.StatusCreated {
								b.Errorf("create: %d %s", recorder.Code, recorder.Body)
								return
							}
						}
					})
				}
				clients.Wait()
				return float64(slugs.Load()-before) / time.Since(began).Seconds()
			}
			for b.Loop() {
				alone := make(chan struct{})
				time.AfterFunc(5*time.Second, func() { close(alone) })
				without := create(alone)
				if _, err := w.DB.Exec(b.Context(), "UPDATE domain SET next_check_at = ? WHERE next_check_at IS NOT NULL",
					w.DB.Now()); err != nil {
					b.Fatal(err)
				}
				verified, began := make(chan struct{}), time.Now()
				go func() {
					defer close(verified)
					w.CheckDomains(b)
				}()
				with := create(verified)
				b.ReportMetric(without, "alone/s")
				b.ReportMetric(with, "beside/s")
				b.ReportMetric(with/without, "ratio")
				b.ReportMetric(time.Since(began).Seconds(), "s/1000verifications")
			}
		})
	}
}
