package schema_test

import (
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/schema"
)

func BenchmarkCheck(b *testing.B) {
	s := schema.ForRequests().For(typeOf[everything]())
	var v any
	if err := json.Unmarshal([]byte(valid), &v); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if problems := s.Check(v, ""); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

// No value makes Check panic, and none makes it tell more than fifty problems.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{valid, `{"tags":[{}]}`, `{"tags":[[],[]]}`, `{"many":[[{}]],"open":{"a":{}}}`, `[[]]`,
		`1e999`} {
		f.Add([]byte(seed))
	}
	s := schema.ForRequests().For(typeOf[everything]())
	f.Fuzz(func(t *testing.T, body []byte) {
		var v any
		if json.Unmarshal(body, &v) != nil {
			return
		}
		if problems := s.Check(v, ""); len(problems) > 50 {
			t.Errorf("%d problems", len(problems))
		}
	})
}
