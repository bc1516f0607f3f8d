package process_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// memory is how much of the machine's a process holds, in MiB, without what the race
// detector adds, which is several times as much.
func (s *server) memory() int {
	s.t.Helper()
	return int(s.metric("go_memstats_sys_bytes")-s.metric("go_memstats_heap_released_bytes")) >> 20
}

// Clients that ask for large answers and read none of them take little memory, and others
// are answered meanwhile.
func TestUnreadAnswers(t *testing.T) {
	const clients, most = 500, 128
	// The system keeps some MiB of a connection by itself.
	const lists = 8
	const first = 12 // come before the crowd
	each(t, func(t *testing.T, database string) {
		s := serve(t, t.TempDir(), database)
		o := newOwner(t, s.client(s.token("ann@example.com")))
		for n := range 80 {
			i := o.creation(fmt.Sprint("l", n), "v")
			i.body.(map[string]any)["parameters"] = map[string]any{"text": strings.Repeat("x", 15<<10)}
			o.must(t, 201, i)
		}
		list := intent{method: "GET", path: "/links?limit=100&appId=" + o.app}
		if a := o.must(t, 200, list); len(a.body) < 1000<<10 || len(a.body) > 1025<<10 {
			t.Fatalf("a page has %d bytes", len(a.body))
		}
		before, status := s.memory(), map[string]int{}
		var conns []net.Conn
		ask := func() {
			t.Helper()
			conn, err := net.Dial("tcp", s.api)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			conn.(*net.TCPConn).SetReadBuffer(1) // what does not fit into it waits in the process
			conn.SetDeadline(time.Now().Add(2 * patience))
			one := fmt.Sprintf("GET /v1%s HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer %s\r\n\r\n", list.path, o.token)
			if _, err := io.WriteString(conn, strings.Repeat(one, lists)); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
		}
		for range first {
			ask()
		}
		s.eventually("the process gives up answers that nobody reads", func() error {
			held := s.metric("waymark_api_answer_bytes")
			if held > 4<<20 {
				t.Errorf("%.0f bytes are held", held)
			}
			if s.metric("waymark_api_answers_unread_total") == 0 {
				return fmt.Errorf("%.0f bytes are held", held)
			}
			return nil
		})
		for len(conns) < clients {
			ask()
		}
		for _, conn := range conns[first:] {
			begin := make([]byte, len("HTTP/1.1 200"))
			if _, err := io.ReadFull(conn, begin); err != nil {
				t.Fatal(err)
			}
			status[string(begin[len("HTTP/1.1 "):])]++
		}
		if grown := s.memory() - before; grown > most {
			t.Errorf("the memory grew by %d MiB, want at most %d", grown, most)
		}
		if status["503"] == 0 || status["200"]+status["503"] < clients-first {
			t.Errorf("the answers are %v", status)
		}
		s.client(s.token("bob@example.com")).must(t, 200, intent{method: "GET", path: "/apps"})
		for _, conn := range conns {
			conn.Close()
		}
		s.eventually("no answer is held", func() error {
			if held := s.metric("waymark_api_answer_bytes"); held != 0 {
				return fmt.Errorf("%.0f bytes are held", held)
			}
			return nil
		})
		o.must(t, 200, list)
		s.terminate()
	})
}
