package process_test

import (
	"net/http"
	"testing"

	"github.com/waymarkhq/waymark/internal/tracing/tracingtest"
)

// A process that ends sends its last traces first. A collector that is away keeps nobody from ending.
func TestLastTraces(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		c := tracingtest.Start(t)
		dir := t.TempDir()
		for _, endpoint := range []string{"http://127.0.0.1:1", c.Address} {
			s := serve(t, dir, database, "--trace-endpoint", endpoint)
			answer, err := http.Get("http://" + s.api + "/v1/me")
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			s.terminate()
		}
		call := c.Span(t, "GET /v1/me").Attributes().AsRaw()
		if call["http.response.status_code"] != int64(401) || call["error.type"] != "unauthenticated" {
			t.Errorf("the trace of a call without a credential: %v", call)
		}
	})
}
