package dnslookup_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/miekg/dns"

	"github.com/waymarkhq/waymark/internal/dnslookup"
)

// serve answers questions with handle over UDP and TCP, and counts them.
func serve(t testing.TB, handle dns.HandlerFunc) (address string, questions *atomic.Int64) {
	t.Helper()
	questions = &atomic.Int64{}
	counting := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		questions.Add(1)
		handle(w, q)
	})
	packets, streams := listen(t)
	for _, server := range []*dns.Server{{PacketConn: packets, Handler: counting}, {Listener: streams, Handler: counting}} {
		go server.ActivateAndServe()
		t.Cleanup(func() { server.Shutdown() })
	}
	return packets.LocalAddr().String(), questions
}

// listen listens at one port by UDP and TCP.
func listen(t testing.TB) (packets net.PacketConn, streams net.Listener) {
	t.Helper()
	for range 20 { // somebody may have the same port by TCP
		var err error
		if packets, err = net.ListenPacket("udp", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		if streams, err = net.Listen("tcp", packets.LocalAddr().String()); err == nil {
			return packets, streams
		}
		packets.Close()
	}
	t.Fatal("no port is free by UDP and TCP")
	return nil, nil
}

// reply answers a question with records.
func reply(q *dns.Msg, records ...string) *dns.Msg {
	answer := new(dns.Msg).SetReply(q)
	for _, text := range records {
		record, err := dns.NewRR(text)
		if err != nil {
			panic(err)
		}
		answer.Answer = append(answer.Answer, record)
	}
	return answer
}

func overUDP(w dns.ResponseWriter) bool { _, udp := w.LocalAddr().(*net.UDPAddr); return udp }

// Servers that lie, fail or are silent never get a wrong answer accepted, and each
// lookup ends by itself.
func TestHostileServers(t *testing.T) {
	for name, c := range map[string]struct {
		handle dns.HandlerFunc
		code   dnslookup.Code
		asked  int64 // 0: it does not matter
	}{
		"error":   {func(w dns.ResponseWriter, q *dns.Msg) { w.WriteMsg(new(dns.Msg).SetRcode(q, 2)) }, "server_failure", 2},
		"refusal": {func(w dns.ResponseWriter, q *dns.Msg) { w.WriteMsg(new(dns.Msg).SetRcode(q, 5)) }, "refused", 2},
		"silence": {func(dns.ResponseWriter, *dns.Msg) {}, "timeout", 2},
		"noise":   {func(w dns.ResponseWriter, _ *dns.Msg) { w.Write([]byte("no DNS message")) }, "no_server", 0},
		"nothing": {func(w dns.ResponseWriter, q *dns.Msg) { w.WriteMsg(reply(q)) }, "no_such_record", 1},
		"wrong id": {func(w dns.ResponseWriter, q *dns.Msg) {
			answer := reply(q, `go.example.com. TXT "wrong"`)
			answer.Id++
			w.WriteMsg(answer)
		}, "timeout", 2},
		"wrong question": {func(w dns.ResponseWriter, q *dns.Msg) {
			answer := reply(q, `go.example.com. TXT "wrong"`)
			answer.Question[0].Name = "other.example.com."
			w.WriteMsg(answer)
		}, "no_server", 2},
		"wrong type": {func(w dns.ResponseWriter, q *dns.Msg) {
			answer := reply(q, `go.example.com. TXT "wrong"`)
			answer.Question[0].Qtype = dns.TypeA
			w.WriteMsg(answer)
		}, "no_server", 2},
		"no response": {func(w dns.ResponseWriter, q *dns.Msg) {
			answer := reply(q, `go.example.com. TXT "wrong"`)
			answer.Response = false
			w.WriteMsg(answer)
		}, "no_server", 2},
		"records of another": {func(w dns.ResponseWriter, q *dns.Msg) {
			w.WriteMsg(reply(q, `other.example.com. TXT "wrong"`, `go.example.com. A 192.0.2.1`))
		}, "no_such_record", 1},
		"endless chain": {func(w dns.ResponseWriter, q *dns.Msg) {
			name := q.Question[0].Name
			w.WriteMsg(reply(q, name+" CNAME x"+name))
		}, "bad_chain", 9},
		"truncated for ever": {func(w dns.ResponseWriter, q *dns.Msg) {
			answer := reply(q)
			answer.Truncated = true
			w.WriteMsg(answer)
		}, "no_such_record", 2},
		"closed over TCP": {func(w dns.ResponseWriter, q *dns.Msg) {
			if !overUDP(w) {
				w.Close()
				return
			}
			answer := reply(q)
			answer.Truncated = true
			w.WriteMsg(answer)
		}, "no_server", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, questions := serve(t, c.handle)
			texts, err := dnslookup.New(address).TXT(t.Context(), "go.example.com")
			var f *dnslookup.Failure
			if f, _ = err.(*dnslookup.Failure); f == nil || f.Code != c.code || len(texts) > 0 {
				t.Errorf("%q, %v, want %s", texts, err, c.code)
			}
			if n := questions.Load(); c.asked != 0 && n != c.asked {
				t.Errorf("%d questions, want %d", n, c.asked)
			}
		})
	}
}

// A wrong answer that comes before the right one does not hide it.
func TestForgedAnswer(t *testing.T) {
	address, _ := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		forged := reply(q, `go.example.com. TXT "forged"`)
		forged.Id++
		w.WriteMsg(forged)
		w.WriteMsg(reply(q, `go.example.com. TXT "true"`))
	})
	texts, err := dnslookup.New(address).TXT(t.Context(), "go.example.com")
	if err != nil || len(texts) != 1 || texts[0] != "true" {
		t.Errorf("%q, %v", texts, err)
	}
}

// Each question has an id that cannot be guessed, and wishes for recursion.
func TestQuestions(t *testing.T) {
	var mu sync.Mutex
	ids := map[uint16]bool{}
	address, questions := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		mu.Lock()
		defer mu.Unlock()
		ids[q.Id] = true
		if !q.RecursionDesired || q.IsEdns0() == nil || q.IsEdns0().UDPSize() != 1232 {
			t.Errorf("the question is %v", q)
		}
		w.WriteMsg(new(dns.Msg).SetRcode(q, dns.RcodeServerFailure))
	})
	r := dnslookup.New(address)
	for range 50 {
		if _, err := r.TXT(t.Context(), "example.com"); err == nil {
			t.Error("an error of the server is an answer")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if n := questions.Load(); n != 100 || len(ids) < 95 {
		t.Errorf("%d questions with %d ids", n, len(ids))
	}
}

// An answer has at most 64 KiB, whatever a server holds.
func TestTenThousandTexts(t *testing.T) {
	all := make([]string, 10_000)
	for i := range all {
		all[i] = fmt.Sprintf(`go.example.com. TXT "%d %s"`, i, strings.Repeat("x", 200))
	}
	address, _ := serve(t, func(w dns.ResponseWriter, q *dns.Msg) {
		answer := reply(q, all...)
		size := dns.MinMsgSize
		if !overUDP(w) {
			size = dns.MaxMsgSize
		}
		answer.Truncate(size)
		w.WriteMsg(answer)
	})
	texts, err := dnslookup.New(address).TXT(t.Context(), "go.example.com")
	if err != nil || len(texts) < 200 || len(texts) > 400 {
		t.Errorf("%d texts, %v", len(texts), err)
	}
}

func TestNobodyAnswers(t *testing.T) {
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets.Close()
	_, err = dnslookup.New(packets.LocalAddr().String()).Host(t.Context(), "go.example.com")
	fails(t, err, dnslookup.NoServer, "go.example.com")
}

// A lookup ends with its context, also while a server is silent.
func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	address, questions := serve(t, func(dns.ResponseWriter, *dns.Msg) { cancel() })
	if _, err := dnslookup.New(address).Host(ctx, "go.example.com"); err == nil || questions.Load() != 1 {
		t.Errorf("%v after %d questions", err, questions.Load())
	}
}
