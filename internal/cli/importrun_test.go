package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waymarkhq/waymark/client"
)

// imports is a server of imports that keeps few of them. A commit ends at once.
type imports struct {
	mu      sync.Mutex
	room    int
	kept    map[string]*job
	answers map[string]string // by Idempotency-Key
	made    int
	links   map[string]int // how often each was made
	limited int            // how many mutations are refused as too many
	rows    map[string][]string
}

func newImports(room int) *imports {
	return &imports{room: room, kept: map[string]*job{}, answers: map[string]string{}, links: map[string]int{}, rows: map[string][]string{}}
}

func (s *imports) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	key := r.Header.Get("Idempotency-Key")
	if answer, known := s.answers[key]; known && key != "" {
		io.WriteString(w, answer)
		return
	}
	var status int
	var data any
	if s.limited > 0 && key != "" {
		s.limited--
		status, data = 429, "rate_limited"
	} else {
		status, data = s.answer(r)
	}
	text, err := json.Marshal(map[string]any{"data": data})
	if status > 299 {
		text, err = json.Marshal(map[string]any{"error": map[string]any{"code": data, "message": "No.", "requestId": "req_1"}})
	}
	if err != nil {
		panic(err)
	}
	if key != "" && status < 300 {
		s.answers[key] = string(text)
	}
	w.WriteHeader(status)
	w.Write(text)
}

func (s *imports) answer(r *http.Request) (status int, data any) {
	steps := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/imports"), "/")
	if len(steps) == 1 {
		waiting := 0
		for _, j := range s.kept {
			if j.State != "succeeded" {
				waiting++
			}
		}
		if waiting == s.room {
			return 409, "resource_conflict"
		}
		var sent struct{ Content string }
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			return 400, "invalid_request"
		}
		s.made++
		j := &job{ID: fmt.Sprint("import-", s.made), State: "uploaded", Total: 1}
		s.kept[j.ID], s.rows[j.ID] = j, []string{sent.Content}
		return 201, j
	}
	j := s.kept[steps[1]]
	switch {
	case j == nil:
		return 404, "not_found"
	case len(steps) == 2:
		return 200, j
	case steps[2] == "validate":
		j.State, j.Revision = "validated", "r"
	case steps[2] == "commit":
		j.State = "succeeded"
		for _, row := range s.rows[j.ID] {
			s.links[row]++
		}
	case steps[2] == "items":
		return 200, []any{map[string]any{"ordinal": 1, "state": j.State, "result": map[string]any{"linkId": "l"}, "input": map[string]any{"slug": "s"}}}
	}
	return 200, j
}

// run returns a run of so many parts against the server.
func (s *imports) run(t *testing.T, journalFile string, parts int) *importRun {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	j, _, err := openJournal(journalFile, "digest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.leave() })
	r := &importRun{api: &client.Client{Server: server.URL, Patience: -1}, app: "app_1", format: "csv", journal: j, sideBySide: 3, ahead: usualRecords,
		progress: func(string, int) func(int) { return func(int) {} }}
	for i := range parts {
		r.parts = append(r.parts, part{rows: []int{i + 1}, content: fmt.Sprint("row ", i)})
	}
	return r
}

// once requires that each row became one link.
func (s *imports) once(t *testing.T, parts int) {
	t.Helper()
	for i := range parts {
		if n := s.links[fmt.Sprint("row ", i)]; n != 1 {
			t.Errorf("row %d became %d links", i, n)
		}
	}
}

// An app that keeps no more imports is no end: what was not tried before is tried when there is
// room.
func TestImportBeyondTheRoomOfTheApp(t *testing.T) {
	s := newImports(4)
	r := s.run(t, filepath.Join(t.TempDir(), "journal"), 20)
	full, err := r.try(t.Context())
	if err != nil || !full || s.made != 4 {
		t.Fatalf("%v, full: %t, %d imports", err, full, s.made)
	}
	// The room is used by parts that were tried, in any order: those are committed as they come.
	if err := r.commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.once(t, 20)
	if s.made != 20 {
		t.Errorf("%d imports of 20 parts", s.made)
	}
	// All of it again changes nothing.
	r.journal.leave()
	again := s.run(t, r.journal.file.Name(), 20)
	if _, err := again.try(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := again.commit(t.Context()); err != nil || s.made != 20 {
		t.Errorf("%v, %d imports", err, s.made)
	}
	s.once(t, 20)
}

// Some of the room of the app is left to its other work, and a credential for imports alone is enough.
func TestRoomOfTheApp(t *testing.T) {
	for answer, ahead := range map[string]int{
		`{"data":{"sharedLimits":{"app":{"automationRecords":10}}}}`:       9,
		`{"error":{"code":"insufficient_permission","requestId":"req_1"}}`: 90,
	} {
		s := newImports(10)
		r := s.run(t, filepath.Join(t.TempDir(), "journal"), 12)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
			if asked.URL.Path != "/v1/apps/app_1/usage" {
				s.ServeHTTP(w, asked)
				return
			}
			if strings.Contains(answer, "error") {
				w.WriteHeader(403)
			}
			io.WriteString(w, answer)
		}))
		defer server.Close()
		r.api.Server = server.URL
		if err := r.leaveRoom(t.Context()); err != nil || r.ahead != ahead {
			t.Fatalf("%s: %d ahead, %v", answer, r.ahead, err)
		}
		for range 2 { // what was tried before counts, too
			if full, err := r.try(t.Context()); err != nil || !full || s.made != min(ahead, s.room) {
				t.Errorf("%s: full: %t, %d imports, %v", answer, full, s.made, err)
			}
		}
		if err := r.commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.once(t, 12)
	}
}

// What is refused because too much is under way waits, for longer than a server may be away.
func TestImportThatIsLimited(t *testing.T) {
	s := newImports(100)
	r := s.run(t, filepath.Join(t.TempDir(), "journal"), 1)
	synctest.Test(t, func(t *testing.T) {
		r.api.HTTP, s.limited = &http.Client{Transport: direct{s}}, 1000
		began := time.Now()
		if err := r.commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited != 1000*lastLook {
			t.Errorf("it waited for %s", waited)
		}
		s.once(t, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.limited = 1000
		if err := r.post(ctx, &partState{}, "x", "/imports", "", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who leaves waits: %v", err)
		}
	})
}

// direct asks a handler without a network.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

// Imports that were tried a day ago are gone: their parts are tried anew.
func TestImportsThatAreGone(t *testing.T) {
	s := newImports(100)
	journalFile := filepath.Join(t.TempDir(), "journal")
	r := s.run(t, journalFile, 5)
	if full, err := r.try(t.Context()); err != nil || full {
		t.Fatalf("%v, full: %t", err, full)
	}
	if len(s.links) != 0 {
		t.Errorf("trying made links: %v", s.links)
	}
	clear(s.kept)
	r.journal.leave()
	later := s.run(t, journalFile, 5)
	if err := later.commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.once(t, 5)
	if s.made != 10 {
		t.Errorf("%d imports, want 5 that are gone and 5 anew", s.made)
	}
	items := later.journal.part(4).Items
	if want := []reportItem{{Row: 5, State: "succeeded", Address: "s", LinkID: "l"}}; !slices.Equal(items, want) {
		t.Errorf("the report of the last part: %+v", items)
	}
}

// A part fails the run, which stops, and tells the rows.
func TestImportThatIsRefused(t *testing.T) {
	s := newImports(100)
	r := s.run(t, filepath.Join(t.TempDir(), "journal"), 5)
	r.api.Server = "http://127.0.0.1:1"
	if _, err := r.try(t.Context()); ExitCode(err) != exitUnavailable || !strings.HasPrefix(err.Error(), "row ") {
		t.Errorf("a server that is away: %v", err)
	}
}
