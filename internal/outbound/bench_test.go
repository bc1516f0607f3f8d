package outbound_test

import (
	"net/http"
	"testing"

	"github.com/waymarkhq/waymark/internal/outbound"
)

func BenchmarkPost(b *testing.B) {
	o := receiver(b, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	body := make([]byte, 1024)
	kept := outbound.New(o)
	for name, client := range map[string]func() *outbound.Client{
		"resumed": func() *outbound.Client { return kept },
		"full":    func() *outbound.Client { return outbound.New(o) }, // it knows no session
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, failure := client().Post(b.Context(), destination, nil, body); failure != nil {
					b.Fatal(failure)
				}
			}
		})
	}
}
