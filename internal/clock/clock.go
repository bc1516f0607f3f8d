// Package clock holds the one representation of time that Waymark stores and
// shows, and the clock that everything asks. Nothing asks a database for the
// time, so tests move it at will and every row of a transaction carries the
// same instant.
package clock

import (
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"time"
)

// Instant is a moment in microseconds since 1970 UTC: the form stored in the
// database (BIGINT). As JSON it is an RFC 3339 UTC instant with milliseconds,
// such as "2026-11-20T12:00:00.000Z"; one that a client sent with microseconds
// shows them too. Tag such fields `format:"date-time"`.
type Instant int64

const (
	layout      = "2006-01-02T15:04:05.000Z"
	layoutExact = "2006-01-02T15:04:05.000000Z"
)

// At returns t as an Instant.
func At(t time.Time) Instant { return Instant(t.UnixMicro()) }

// Time returns i as a UTC time.Time.
func (i Instant) Time() time.Time { return time.UnixMicro(int64(i)).UTC() }

// Add returns i moved by d.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Microseconds()) }

// Sub returns the duration from j to i, which must be less than 292 years.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i-j) * time.Microsecond }

// Unix returns i in whole seconds since 1970 UTC.
func (i Instant) Unix() int64 { return i.Time().Unix() }

// String returns i as an RFC 3339 UTC instant with milliseconds, or with
// microseconds where it has any.
func (i Instant) String() string {
	if i%1000 != 0 {
		return i.Time().Format(layoutExact)
	}
	return i.Time().Format(layout)
}

// MarshalText writes i as String does.
func (i Instant) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads what Parse reads.
func (i *Instant) UnmarshalText(text []byte) error {
	t, err := Parse(string(text))
	*i = t
	return err
}

// Form describes instants to those who write one.
const Form = "an RFC 3339 instant such as 2026-11-20T12:00:00Z"

// Parse reads an RFC 3339 instant with any offset, letters in either case and
// up to nine digits after the second, of which it keeps six. Second 60 is the
// last microsecond of its minute. Years outside 1970–9999 are refused: they
// cannot be shown in the same form again (completions.md §11, Instants).
func Parse(s string) (Instant, error) {
	const second = len("2006-01-02T15:04:")
	if !instant.MatchString(s) { // time.Parse is laxer than the RFC
		return 0, fmt.Errorf("%q is not %s", s, Form)
	}
	text, leap := strings.ToUpper(s), s[second:second+2] == "60"
	if leap {
		zone := strings.IndexAny(text[second:], "Z+-") + second
		text = text[:second] + "59.999999" + text[zone:]
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fmt.Errorf("%q is not %s", s, Form)
	}
	if t = t.UTC(); t.Year() < 1970 || t.Year() > 9999 {
		return 0, fmt.Errorf("%q is outside the years 1970 to 9999", s)
	}
	return At(t), nil
}

var instant = regexp.MustCompile(`^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// Clock tells the time. The zero Clock is the system's.
type Clock struct {
	// fixed is the set time in microseconds; 0 means the system's.
	fixed atomic.Int64
}

// Now returns the current instant in whole milliseconds, so that what is
// stored equals what is shown.
func (c *Clock) Now() Instant {
	if f := c.fixed.Load(); f != 0 {
		return Instant(f)
	}
	return At(time.Now().Truncate(time.Millisecond))
}

// Set stops the clock at i; only tests do.
func (c *Clock) Set(i Instant) { c.fixed.Store(int64(i)) }

// Move sets the clock d later than it shows now; only tests do.
func (c *Clock) Move(d time.Duration) { c.Set(c.Now().Add(d)) }
