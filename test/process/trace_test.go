package process_test

import (
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
			// A stranger has nothing traced, whatever is asked for.
			unknown := s.client("wm_stg_unknown")
			for _, client := range []*client{unknown, s.client(s.token("owner@example.com"))} {
				if _, err := client.call(intent{method: "GET", path: "/me"}); err != nil {
					t.Fatal(err)
				}
			}
			s.terminate()
		}
		call := c.Span(t, "GET /v1/me").Attributes().AsRaw()
		if call["http.response.status_code"] != int64(200) {
			t.Errorf("the trace of the owner's call: %v", call)
		}
	})
}
