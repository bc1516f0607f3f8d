package op

import (
	"errors"
	"log/slog"
	"math"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
)

func TestParseJSON(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		name, body string
		want       any
		code       fault.Code
	}{
		{"object", `{"a":[1,"x",null,true]}`, map[string]any{"a": []any{1.0, "x", nil, true}}, ""},
		{"white space", " {\n} ", map[string]any{}, ""},
		{"empty", ``, nil, fault.InvalidRequest},
		{"cut off", `{"a":1`, nil, fault.InvalidRequest},
		{"cut off array", `[1`, nil, fault.InvalidRequest},
		{"trailing value", `{} {}`, nil, fault.InvalidRequest},
		{"trailing garbage", `{}x`, nil, fault.InvalidRequest},
		{"duplicate member", `{"a":1,"a":1}`, nil, fault.InvalidRequest},
		{"duplicate escaped member", `{"a":1,"\u0061":1}`, nil, fault.InvalidRequest},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", nil, fault.InvalidRequest},
		{"lone surrogate", `{"a":"\ud800"}`, nil, fault.ValidationFailed},
		{"lone surrogate, reversed pair", `{"a":"\udc00\ud800"}`, nil, fault.ValidationFailed},
		{"lone surrogate in malformed JSON", `{"a":"\ud800",,}`, nil, fault.InvalidRequest},
		{"duplicate member beside a pair", `{"a":"\ud83d\ude00","a":1}`, nil, fault.InvalidRequest},
		{"raw NUL", "{\"a\":\"\x00\"}", nil, fault.InvalidRequest},
		{"escaped NUL", `{"a":"x\u0000"}`, nil, fault.ValidationFailed},
		{"NUL in a name", `{"\u0000":1}`, nil, fault.ValidationFailed},
		{"byte order mark", "\ufeff{}", nil, fault.InvalidRequest},
		{"single quotes", `{'a':1}`, nil, fault.InvalidRequest},
		{"NaN", `{"a":NaN}`, nil, fault.InvalidRequest},
		{"NUL in malformed JSON", `{"a":"\u0000",,}`, nil, fault.InvalidRequest},
		{"huge number", `{"a":1e999}`, map[string]any{"a": math.Inf(1)}, ""},
		{"32 levels", deep(32), nil, ""},
		{"33 levels", deep(33), nil, fault.InvalidRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseJSON([]byte(c.body))
			if c.code == "" {
				if err != nil || c.want != nil && !reflect.DeepEqual(got, c.want) {
					t.Fatalf("got %v, %v", got, err)
				}
				return
			}
			if refusal, ok := fault.From(err); !ok || refusal.Code != c.code {
				t.Fatalf("got %v, %v; want %s", got, err, c.code)
			}
		})
	}
}

func TestCanonical(t *testing.T) {
	same := [][2]string{
		{`{"a":1,"b":[{"d":1,"c":2}]}`, "{ \"b\": [ {\"c\":2, \"d\":1} ],\n \"a\": 1 }"},
		{`{"a":"é"}`, `{"\u0061":"\u00e9"}`},
	}
	for _, pair := range same {
		if a, b := canonical([]byte(pair[0])), canonical([]byte(pair[1])); string(a) != string(b) {
			t.Errorf("%s and %s differ: %s, %s", pair[0], pair[1], a, b)
		}
	}
	for _, pair := range [][2]string{{`[1,2]`, `[2,1]`}, {`{"a":1}`, `{"a":"1"}`},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`}} {
		if a, b := canonical([]byte(pair[0])), canonical([]byte(pair[1])); string(a) == string(b) {
			t.Errorf("%s and %s have one canonical form: %s", pair[0], pair[1], a)
		}
	}
}

func FuzzParseJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,"x",null,true,{"b":-1.5e3}]}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := parseJSON(body); err != nil {
			if _, ok := fault.From(err); !ok {
				t.Fatalf("%q: %v is no refusal", body, err)
			}
			return
		}
		once := canonical(body)
		if twice := canonical(once); string(once) != string(twice) {
			t.Errorf("canonical is not stable: %s, %s", once, twice)
		}
	})
}

// Every spelling of a whole number is read, up to the largest float64 below 2^63; nothing else is made one, and what is
// refused leaves the value as it was.
func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]int64{"7": 7, "100.0": 100, "1e2": 100, "-12.5e1": -125, "-0.0": 0,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
		"9223372036854774784.0": 9223372036854774784, "-9223372036854774784.0": -9223372036854774784} {
		got := int64(7)
		if err := Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is read as %d, %v", text, got, err)
		}
		var n int
		if err := Unmarshal([]byte(text), &n); err != nil || int64(n) != want {
			t.Errorf("%s is read as the int %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"1.5", "-0.1", "1e-1", "9223372036854775808", "9223372036854775808.0",
		"-9223372036854775809", "1e400", "-1e400", "-", "1.", "1e", `"1"`, "true", "[]"} {
		got := int64(7)
		if err := Unmarshal([]byte(text), &got); err == nil || got != 7 {
			t.Errorf("%s is read as %d, %v", text, got, err)
		}
	}
}

// A panic while a body is checked is a refusal, not a failure of the service.
func TestPanicWhileChecking(t *testing.T) {
	var logged strings.Builder
	s := New(Options{Log: slog.New(slog.NewTextHandler(&logged, nil))})
	broken := &schema.Schema{AnyOf: []*schema.Schema{nil}}
	if details := s.check(broken, "x"); len(details) != 1 || details[0].Code != fault.ReasonInvalid {
		t.Errorf("the details are %v", details)
	}
	if !strings.Contains(logged.String(), "panic while a request was checked") {
		t.Errorf("the log is %q", logged.String())
	}
	// So does a panic in a check of the path, a header or the query, or while a body is
	// decoded: none is an internal error.
	for _, c := range []*callContext{
		{row: &row{input: inputSpec{parameters: []parameter{{name: "a", in: "path", schema: broken}}}}},
		{row: &row{input: inputSpec{parameters: []parameter{{name: "a", in: "query", schema: broken}}}}},
		{row: &row{mutates: true, input: inputSpec{body: broken}}},
	} {
		c.pipeline, c.r, c.w = s, httptest.NewRequest("POST", "/?a=1", strings.NewReader("{}")), httptest.NewRecorder()
		c.r.Header.Set("Idempotency-Key", "7d9f0a52-3c1e-4b8a-9f57-2e6c81d4a0b3")
		c.r.Header.Set("Content-Type", "application/json")
		if refusal, ok := fault.From(guarded(s.Log, c.parse)); !ok || refusal.Status() >= 500 {
			t.Errorf("%+v: %v", c.row.input, refusal)
		}
	}
	if _, err := reader[unreadable](schema.ForRequests(), s.Log)([]byte("{}")); err == nil {
		t.Error("a panic while a body was decoded is no refusal")
	} else if refusal, ok := fault.From(err); !ok || refusal.Status() != 400 {
		t.Errorf("a panic while a body was decoded is %v", err)
	}
}

// unreadable panics when it is decoded.
type unreadable struct{}

func (*unreadable) UnmarshalJSON([]byte) error { panic("unreadable") }

// An answer that is no JSON is a failure, and is not kept. A refusal that is none still has its envelope.
func TestWhatCannotBeWritten(t *testing.T) {
	const no = "\xff"
	var logged strings.Builder
	c := &callContext{pipeline: New(Options{Log: slog.New(slog.NewTextHandler(&logged, nil))}), row: &row{}}
	c.Actor = &actor.Actor{}
	answer := outcome{data: no}
	if err := answer.encode(c.row); err == nil {
		t.Errorf("the answer is %s", answer.text)
	}
	if _, err := c.saveReceipt(nil, &outcome{location: no}); err == nil {
		t.Error("a receipt was kept")
	}
	w := httptest.NewRecorder()
	c.pipeline.WriteError(w, "req_1", fault.New(fault.NotFound, no))
	var refused ErrorEnvelope
	if err := Unmarshal(w.Body.Bytes(), &refused); err != nil || w.Code != 404 || refused.Error.Code != fault.Internal ||
		refused.Error.RequestID != "req_1" || !strings.Contains(logged.String(), "request_id=req_1") {
		t.Errorf("%d %s, %v; the log is %s", w.Code, w.Body, err, logged.String())
	}
}

// A value that its Go type cannot take is named, although its schema takes it.
func TestDecodeFault(t *testing.T) {
	var into struct {
		A []struct{ B int } `json:"a"`
	}
	err := Unmarshal([]byte(`{"a":[{"B":1},{"B":"x"}]}`), &into)
	refusal, ok := fault.From(decodeFault(err))
	if err == nil || !ok || len(refusal.Details) != 1 || refusal.Details[0].Path != "/a/1/B" {
		t.Errorf("%v is told as %+v", err, refusal)
	}
	if refusal, ok := fault.From(decodeFault(errors.New("x"))); !ok || len(refusal.Details) != 1 || refusal.Details[0].Path != "" {
		t.Errorf("another error is told as %+v", refusal)
	}
}
