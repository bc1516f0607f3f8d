package op

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/requestlog"
	"github.com/waymarkhq/waymark/internal/schema"
)

func TestTextOf(t *testing.T) {
	const row = 1000
	rows := make([]string, 2000)
	for i := range rows {
		rows[i] = strings.Repeat("x", row-3) // with its quotes and a comma so many bytes
	}
	fits := (1<<20 - 1) / row
	text, n, err := textOf(rows)
	if err != nil || n != fits || len(text) != fits*row+1 {
		t.Fatalf("%d rows, %d bytes, %v; want %d rows", n, len(text), err, fits)
	}
	// The last byte that fits, and one more.
	rows = rows[:fits]
	for _, c := range []struct{ more, want int }{{0, fits}, {1, fits - 1}} {
		rows[0] = strings.Repeat("x", row-3+(1<<20)-1-fits*row+c.more)
		if text, n, err := textOf(rows); err != nil || n != c.want {
			t.Errorf("with %d bytes: %d rows, %v, want %d", len(text), n, err, c.want)
		}
	}
	for want, rows := range map[string][]string{`[]`: nil, `["a"]`: {"a"}, `["a","b"]`: {"a", "b"}} {
		if text, n, err := textOf(rows); string(text) != want || n != len(rows) || err != nil {
			t.Errorf("%v: %s, %d, %v", rows, text, n, err)
		}
	}
	// A row that is too large is a page of its own.
	large := strings.Repeat("x", 1<<20)
	if text, n, err := textOf([]string{large, "a"}); n != 1 || err != nil || string(text) != `["`+large+`"]` {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestShares(t *testing.T) {
	s := newShares(5, 3)
	take := func(account string, n int64, want bool) *share {
		t.Helper()
		taken, ok := s.take(account, n)
		if ok != want {
			t.Errorf("%s takes %d: %t", account, n, ok)
		}
		return taken
	}
	take("a", 4, false)
	first := take("a", 2, true)
	second := take("a", 1, true)
	take("a", 1, false)
	take("b", 3, false)
	other := take("b", 2, true)
	take("c", 1, false)
	first.giveBack()
	take("a", 3, false)
	third := take("a", 2, true)
	second.giveBack()
	other.giveBack()
	third.shrink(3)
	take("a", 2, false)
	third.shrink(1)
	take("a", 2, true).giveBack()
	third.giveBack()
	take("b", 3, true)
	take("c", 3, false)
	take("c", 2, true)

	newShares(3, 3)
	defer func() {
		if recover() == nil {
			t.Error("an account may have more than there is")
		}
	}()
	newShares(3, 4)
}

// Who waits gets what others give back, or nothing when the time is over.
func TestSharesAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShares(3, 2)
		held, _ := s.take("a", 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var waiting sync.WaitGroup
		var got atomic.Int64
		for range 3 {
			waiting.Go(func() {
				if _, ok := s.wait(ctx, "a", 1); ok {
					got.Add(1)
				}
			})
		}
		synctest.Wait()
		if other, ok := s.wait(ctx, "b", 1); !ok {
			t.Error("another account has to wait")
		} else {
			other.giveBack()
		}
		if synctest.Wait(); got.Load() != 0 {
			t.Errorf("%d got something before it was given back", got.Load())
		}
		held.giveBack()
		if synctest.Wait(); got.Load() != 2 {
			t.Errorf("%d of 3 got what was given back", got.Load())
		}
		waiting.Wait()
		if load := s.load(); got.Load() != 2 || load != (Share{Taken: 2, Refused: 1}) {
			t.Errorf("%d got something, %+v", got.Load(), load)
		}
	})
}

// piped serves h over connections in memory, whose writes wait for their reads, and
// returns one of them.
func piped(t *testing.T, h http.HandlerFunc) net.Conn {
	l := &pipes{make(chan net.Conn), make(chan struct{})}
	s := &http.Server{Handler: h}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close() })
	l.conns <- server
	return client
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{} }

// A client that reads each part of an answer in time gets all of it, however long that
// takes. One that stops reading is left.
func TestSlowReaders(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 3*64<<10)
	for _, c := range []struct {
		pause  time.Duration
		unread bool
	}{{9 * time.Second, false}, {11 * time.Second, true}} {
		synctest.Test(t, func(t *testing.T) {
			var unread atomic.Bool
			client := piped(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(len(body)))
				unread.Store(send(w, body))
			})
			fmt.Fprint(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			response, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for chunk := make([]byte, 64<<10); err == nil; {
				time.Sleep(c.pause)
				var n int
				n, err = io.ReadFull(response.Body, chunk)
				got += n
			}
			synctest.Wait()
			if unread.Load() != c.unread || (got == len(body)) == c.unread {
				t.Errorf("with pauses of %s: unread %t, %d bytes, %v", c.pause, unread.Load(), got, err)
			}
		})
	}
}

// A body that keeps pace is read, however long it is; one that does not is refused. The
// first bytes have more time.
func TestSlowBodies(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		// first is the pause before the body, then between its parts of so many bytes.
		first, then time.Duration
		part, parts int
		err         error
	}{
		"at once":          {0, 0, 100, 1, nil},
		"late":             {5*second - 1, 0, 100, 1, nil},
		"too late":         {5*second + 1, 0, 100, 1, os.ErrDeadlineExceeded},
		"in step":          {0, 2*second - 1, 16 << 10, 15, nil},
		"out of step":      {0, 2*second + 1, 16 << 10, 3, os.ErrDeadlineExceeded},
		"half as fast":     {0, 2*second - 1, 8 << 10, 4, os.ErrDeadlineExceeded},
		"drops":            {0, second, 1, 8, os.ErrDeadlineExceeded},
		"longer than ever": {0, 2*second - 1, 16 << 10, 17, os.ErrDeadlineExceeded},
	} {
		synctest.Test(t, func(t *testing.T) {
			var got int64
			var err error
			client := piped(t, func(w http.ResponseWriter, r *http.Request) {
				got, err = io.Copy(io.Discard, newPaced(w, r))
				w.WriteHeader(http.StatusNoContent)
			})
			var sending sync.WaitGroup
			sending.Go(func() {
				fmt.Fprintf(client, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", c.part*c.parts)
				time.Sleep(c.first)
				for i := range c.parts {
					if i > 0 {
						time.Sleep(c.then)
					}
					client.Write(make([]byte, c.part))
				}
			})
			if _, err := http.ReadResponse(bufio.NewReader(client), nil); err != nil {
				t.Fatal(err)
			}
			if !errors.Is(err, c.err) || (got == int64(c.part*c.parts)) != (c.err == nil) {
				t.Errorf("%s: %d bytes, %v", name, got, err)
			}
			client.Close()
			sending.Wait()
		})
	}
}

// The time in which a call does something else does not count against its client, nor do
// deadlines of the body outlive it.
func TestBodiesOfBusyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := errors.New("none")
		client := piped(t, func(w http.ResponseWriter, r *http.Request) {
			body := newPaced(w, r)
			io.CopyN(io.Discard, body, 1)
			time.Sleep(10 * time.Second)
			if _, err := io.Copy(io.Discard, body); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Minute)
			left = r.Context().Err()
		})
		go fmt.Fprint(client, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab")
		if _, err := http.ReadResponse(bufio.NewReader(client), nil); err != nil || left != nil {
			t.Errorf("%v, the call ended with %v", err, left)
		}
	})
}

// deadlines is an answer that keeps the deadline of reading.
type deadlines struct {
	http.ResponseWriter
	read time.Time
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.read = t
	return nil
}

// A body that was read to its end leaves the connection without a deadline: the call may
// take longer than the body, and net/http ends a call whose connection cannot be read.
func TestBodyLeavesNoDeadline(t *testing.T) {
	w := &deadlines{}
	body := newPaced(w, &http.Request{Body: io.NopCloser(strings.NewReader("abc"))})
	some := make([]byte, 2)
	if _, err := body.Read(some); err != nil || w.read.IsZero() {
		t.Errorf("half of the body: %v, to be read until %s", err, w.read)
	}
	if rest, err := io.ReadAll(body); err != nil || string(rest) != "c" || !w.read.IsZero() {
		t.Errorf("the rest is %q, %v, to be read until %s", rest, err, w.read)
	}
}

// An answer that is made waits a while for its room, as the effect of its call has happened.
func TestAnswerWaitsForItsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &callContext{pipeline: New(Options{}), ctx: t.Context()}
		c.Actor = &actor.Actor{OwnerID: "a"}
		others, _ := c.pipeline.sending.take("a", 4<<20)
		began := time.Now()
		if err := c.keepRoom(16<<10 + 1); err != errUnread || time.Since(began) != 2*time.Second {
			t.Errorf("without room: %v after %s", err, time.Since(began))
		}
		if err := c.keepRoom(16 << 10); err != nil {
			t.Errorf("a small answer: %v", err)
		}
		go func() {
			time.Sleep(time.Second)
			others.giveBack()
		}()
		if err := c.keepRoom(16<<10 + 1); err != nil || c.room.n != 16<<10+1 {
			t.Errorf("after others were read: %v", err)
		}
	})
}

// An answer for which there is no room is refused, and nothing of it is written.
func TestAnswerWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for size, status := range map[int]int{16 << 10: 200, 16<<10 + 1: 503} {
			w := httptest.NewRecorder()
			c := &callContext{pipeline: New(Options{Requests: requestlog.New(nil, nil)}), ctx: t.Context(), row: &row{}, w: w,
				r: httptest.NewRequest("GET", "/", nil)}
			c.row.Status = http.StatusOK
			c.Actor = &actor.Actor{OwnerID: "a"}
			c.pipeline.sending.take("a", 4<<20)
			c.answer(&outcome{text: bytes.Repeat([]byte("1"), size), etag: "x"})
			if written := w.Body.Len() > size; w.Code != status || written != (status == 200) ||
				(w.Header().Get("ETag") != "") != written {
				t.Errorf("an answer of %d bytes: %d %v, %d bytes", size, w.Code, w.Header(), w.Body.Len())
			}
		}
	})
}

// An account that used up the bytes of its receipts is known as long as its hour lasts, and forgotten when another one
// uses up its own.
func TestFullReceiptsAreForgotten(t *testing.T) {
	now := clock.At(time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC))
	p := New(Options{Limiter: ratelimit.NewMemory()})
	p.receipts.until = map[string]clock.Instant{"over": now - 1, "just over": now, "full": now + 1}
	c := &callContext{Call: Call{Now: now, limitScale: 1, Actor: &actor.Actor{OwnerID: "a"}}, pipeline: p, ctx: t.Context()}
	known := func(want map[string]clock.Instant) {
		t.Helper()
		if !maps.Equal(p.receipts.until, want) {
			t.Errorf("full are %v, want %v", p.receipts.until, want)
		}
	}
	before := maps.Clone(p.receipts.until)
	c.countReceipt(1 << 10)       // is small
	c.countReceipt(16<<20 + 1023) // leaves one byte
	known(before)
	c.countReceipt(1<<10 + 1)
	hour := clock.At(time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC))
	known(map[string]clock.Instant{"full": now + 1, "a": hour})
	for at, full := range map[clock.Instant]bool{now: true, hour - 1: true, hour: false} {
		c.Now = at
		if err := c.receiptRoom(); (err != nil) != full {
			t.Errorf("%v before the end of the hour: %v", hour.Sub(at), err)
		}
	}
}

// A part of a path names something where it is a text of at most 500 bytes.
func TestPartsOfPaths(t *testing.T) {
	parameters := []parameter{{name: "id", in: "path", schema: &schema.Schema{Type: schema.String}}}
	for value, want := range map[string]bool{"x": true, strings.Repeat("x", 500): true, strings.Repeat("x", 501): false,
		"": false, "x\xff": false, "x\x00": false} {
		c := &callContext{r: httptest.NewRequest("GET", "/", nil), row: &row{input: inputSpec{parameters: parameters}}}
		c.r.SetPathValue("id", value)
		if got := c.parsePath(); got != want || want && c.path["id"] != value {
			t.Errorf("%.20q of %d bytes: %t, %v", value, len(value), got, c.path)
		}
	}
}

// A body that does not come in is told apart from one that comes in too slowly.
func TestIncompleteBodies(t *testing.T) {
	for message, err := range map[string]error{
		"The body could not be read.": io.ErrUnexpectedEOF,
		"The body came in too slowly: send the first 16 KiB within 5 seconds, the rest with at least 8 KiB per second, and " +
			"all of it within 30 seconds.": fmt.Errorf("read: %w", os.ErrDeadlineExceeded),
	} {
		if got := incomplete(err); got.Message != message || got.Code != "invalid_request" {
			t.Errorf("%v: %s %q", err, got.Code, got.Message)
		}
	}
}
