package clock

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-20T12:00:00Z":            "2026-11-20T12:00:00.000Z",
		"2026-11-20T12:00:00.123Z":        "2026-11-20T12:00:00.123Z",
		"2026-11-20T12:00:00.123456Z":     "2026-11-20T12:00:00.123456Z",
		"2026-11-20T12:00:00.1234569Z":    "2026-11-20T12:00:00.123456Z",
		"2026-11-20T12:00:00.123456789Z":  "2026-11-20T12:00:00.123456Z",
		"2026-11-20T12:00:00.1234567891Z": "",
		"2026-11-20T12:00:00.Z":           "",
		"2026-11-20t12:00:00z":            "2026-11-20T12:00:00.000Z",
		"2026-11-20t12:00:00.5+00:00":     "2026-11-20T12:00:00.500Z",
		"2026-12-31T23:59:60Z":            "2026-12-31T23:59:59.999999Z",
		"2027-01-01T01:59:60.5+02:00":     "2026-12-31T23:59:59.999999Z",
		"2026-12-31T23:59:61Z":            "",
		"2026-12-31T23:60:00Z":            "",
		"2026-12-31T24:00:00Z":            "",
		"2026-11-20T12:00:00+24:00":       "",
		"2026-11-20T12:00:00+0200":        "",
		"9999-12-31T23:59:60Z":            "9999-12-31T23:59:59.999999Z",
		"2026-11-20T14:00:00+02:00":       "2026-11-20T12:00:00.000Z",
		"1970-01-01T00:00:00Z":            "1970-01-01T00:00:00.000Z",
		"9999-12-31T23:59:59Z":            "9999-12-31T23:59:59.000Z",
		"9999-12-31T23:59:59-01:00":       "",
		"1969-12-31T23:59:59Z":            "",
		"2026-11-20":                      "",
		"2026-11-20 12:00:00Z":            "",
		"2026-02-30T00:00:00Z":            "",
		"":                                "",
	} {
		got, err := Parse(text)
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("Parse(%q) = %v, %v; want %s", text, got, err, want)
		}
	}
}

func TestClock(t *testing.T) {
	var c Clock
	before := At(time.Now()).Add(-time.Millisecond)
	if now := c.Now(); now < before || now%1000 != 0 {
		t.Errorf("Now() = %d", now)
	}
	c.Set(5_000_000)
	c.Move(time.Second)
	if c.Now() != 6_000_000 || c.Now().Unix() != 6 || c.Now().Sub(1_000_000) != 5*time.Second {
		t.Errorf("Now() = %d", c.Now())
	}
}

// What is shown reads as the same instant.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"2026-11-20T12:00:00Z", "2026-11-20t12:00:60.123456789+01:00",
		"1970-01-01T00:00:00-00:01"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		i, err := Parse(s)
		if err != nil {
			return
		}
		if again, err := Parse(i.String()); err != nil || again != i {
			t.Errorf("Parse(%q) = %v, which reads as %v, %v", s, i, again, err)
		}
	})
}
