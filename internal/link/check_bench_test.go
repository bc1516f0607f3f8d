package link_test

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/link"
	"github.com/waymarkhq/waymark/internal/op"
)

// What reading a creation costs: parsed, checked against its schema, decoded.
func BenchmarkReadCreation(b *testing.B) {
	read := op.Reader[link.CreateLink](op.New(op.Options{}))
	body := []byte(`{"appId":"app_01k6fq4w8m3x7c9v2n5b1t0rzy","domain":"go.example.com","prefix":"sale","slug":"spring","title":"Spring sale",` +
		`"description":"Everything for the garden","desktopUrl":"https://shop.example.com/spring","utm":{"source":"newsletter","medium":"email"},` +
		`"lifecycle":{"expiresAt":"2026-12-01T00:00:00Z","maxClicks":100},"parameters":{"product":42},"behavior":"automatic","group":"main"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read(body); err != nil {
			b.Fatal(err)
		}
	}
}
