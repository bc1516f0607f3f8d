package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
)

// Whatever is wrong with the service, it is told from a missing object, and
// nothing secret is told of it.
func TestS3Away(t *testing.T) {
	s := newService(t)
	if waits := s.store(t, "images").timeout; waits != 10*time.Second {
		t.Errorf("callers wait for %s", waits)
	}
	put(t, s.store(t, "images"), name, "x")
	status := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	refusal := "<Error><Code>%s</Code><Message>Do not send the-secret</Message></Error>"
	for what, answer := range map[string]http.HandlerFunc{
		"fails":              status(500, ""),
		"fails in a page":    status(502, "<html>the-secret</html>"),
		"is busy":            status(503, fmt.Sprintf(refusal, "SlowDown")),
		"refuses":            status(403, fmt.Sprintf(refusal, "AccessDenied")),
		"has no such bucket": status(404, fmt.Sprintf(refusal, "NoSuchBucket")),
		"reflects":           status(400, fmt.Sprintf(refusal, "the-secret in words")),
		"reflects a letter":  status(400, fmt.Sprintf(refusal, "the-secreté")),
		"breaks off": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "part")
			panic(http.ErrAbortHandler)
		},
		"hangs": func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
	} {
		t.Run(what, func(t *testing.T) {
			store := s.store(t, "images")
			store.timeout = 300 * time.Millisecond
			s.answerWith(answer)
			defer s.answerWith(nil)
			for call, err := range attemptAll(t.Context(), store) {
				if what == "breaks off" && call == "put" || what == "breaks off" && call == "delete" {
					continue // whose answer has nothing to say
				}
				if !errors.Is(err, ErrAway) || errors.Is(err, ErrNotFound) {
					t.Errorf("%s: %v", call, err)
				}
				doing := map[string]string{"put": "store " + name, "open": "read " + name, "delete": "remove " + name}[call]
				if err != nil && !strings.Contains(err.Error(), doing) {
					t.Errorf("%s: %v, want %s", call, err, doing)
				}
				// A plain code is told: it says what is wrong.
				code := map[string]string{"refuses": "403 AccessDenied", "has no such bucket": "404 NoSuchBucket",
					"reflects": "answered 400"}[what]
				if err != nil && !strings.Contains(err.Error(), code) {
					t.Errorf("%s: %v, want %s", call, err, code)
				}
				if err != nil && (strings.Contains(err.Error(), "the-secre") ||
					strings.Contains(err.Error(), "the-id")) {
					t.Errorf("%s: %v", call, err)
				}
			}
		})
	}
	// A caller that gives up earlier is not kept, and does not take what was
	// cut off for the whole.
	ctx, cancel := context.WithCancel(t.Context())
	store := s.store(t, "images")
	s.answerWith(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	for call, err := range attemptAll(ctx, store) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", call, err)
		}
	}
	s.answerWith(nil)
	if got := get(t, store, name); got != "x" {
		t.Errorf("after all that: %q", got)
	}
	s.Close()
	for call, err := range attemptAll(t.Context(), store) {
		if !errors.Is(err, ErrAway) || errors.Is(err, ErrNotFound) {
			t.Errorf("%s of a service that is gone: %v", call, err)
		}
	}
}

// One failure in passing is not seen by the caller.
func TestS3Again(t *testing.T) {
	s := newService(t)
	store := s.store(t, "images")
	for call, attempt := range map[string]func() error{
		"put":   func() error { return store.Put(t.Context(), name, "image/png", strings.NewReader("all of it"), 9) },
		"names": func() error { return store.Names(t.Context(), func(string) error { return nil }) },
	} {
		s.answerWith(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(503)
			s.answerWith(nil)
		})
		if err := attempt(); err != nil {
			t.Errorf("%s: %v", call, err)
		}
	}
	if got := get(t, store, name); got != "all of it" {
		t.Errorf("%q", got)
	}
}

// What is listed has more than one page, and among it what is not ours.
func TestS3Names(t *testing.T) {
	s := newService(t)
	var want []string
	object := func(key string) {
		if _, err := s.backend.PutObject("images", key, nil, strings.NewReader("x"), 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 2001 {
		want = append(want, fmt.Sprintf("%032x.png", n))
		object("of/waymark/" + want[n])
	}
	object("of/waymark/readme")
	object("of/waymark/x/" + name)
	object("of/" + name)
	object(name)
	store := s.store(t, "images/of/waymark")
	if got := names(t, store); !slices.Equal(got, want) {
		t.Errorf("%d names, want %d", len(got), len(want))
	}
	// A sweep may remove what it is shown.
	if err := store.Names(t.Context(), func(name string) error { return store.Delete(t.Context(), name) }); err != nil {
		t.Fatal(err)
	}
	if got := names(t, store); len(got) != 0 {
		t.Errorf("%d names are left", len(got))
	}
}

// An object that someone else stored, too large to be kept in memory, is not
// cut, and no file stays open for it.
func TestS3TooLarge(t *testing.T) {
	s := newService(t)
	if _, err := s.backend.PutObject("images", name, map[string]string{"Last-Modified": "Fri, 20 Nov 2026 12:00:00 GMT"},
		strings.NewReader(strings.Repeat("x", 1<<20+1)), 1<<20+1, nil); err != nil {
		t.Fatal(err)
	}
	store := s.store(t, "images")
	if _, err := store.Open(t.Context(), name); !errors.Is(err, ErrAway) || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("%v", err)
	}
	var file *os.File
	_, err := store.fetch(t.Context(), name, func() (_ *os.File, err error) {
		file, err = store.nameless()
		return file, err
	})
	if closed := file.Close(); err == nil || !errors.Is(closed, os.ErrClosed) {
		t.Errorf("%v; the file closes with %v", err, closed)
	}
}

// What is kept in a file has its bound, too: it is refused, not cut.
func TestFileOfAnObject(t *testing.T) {
	b := &bucket{kind: Kind{MaxSize: 5}}
	for content, whole := range map[string]bool{"": true, "12345": true, "123456": false, "1234567": false} {
		file, err := os.CreateTemp(t.TempDir(), "object")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		err = b.fill(file, strings.NewReader(content))
		read, readErr := io.ReadAll(file)
		if (err == nil) != whole || whole && (readErr != nil || string(read) != content) {
			t.Errorf("%q: %v; %q, %v", content, err, read, readErr)
		}
	}
}

// A call has ten seconds, and one more for each MiB that it moves.
func TestTimeOfACall(t *testing.T) {
	b := &bucket{timeout: 10 * time.Second}
	for bytes, want := range map[int64]time.Duration{0: 10, 1<<20 - 1: 10, 1 << 20: 11, 2<<20 - 1: 11, 2 << 20: 12} {
		if got := b.timeFor(bytes); got != want*time.Second {
			t.Errorf("%d bytes have %s, want %d s", bytes, got, want)
		}
	}
}

// An object that is not there is removed, whether or not the service says so.
func TestRemoveNothing(t *testing.T) {
	s := newService(t)
	store := s.store(t, "images")
	for status, removed := range map[int]bool{http.StatusNoContent: true, http.StatusNotFound: true, http.StatusForbidden: false} {
		s.answerWith(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			if status == http.StatusNotFound {
				io.WriteString(w, "<Error><Code>NoSuchKey</Code></Error>")
			}
		})
		if err := store.Delete(t.Context(), name); (err == nil) != removed {
			t.Errorf("%d: %v", status, err)
		}
	}
}

// Of an answer its code is told, if it can be one.
func TestCodesOfAnswers(t *testing.T) {
	for code, told := range map[string]bool{"SlowDown": true, "!~": true, "a code": false, "a\x7f": false, "é": false,
		strings.Repeat("x", 50): true, strings.Repeat("x", 51): false} {
		err := plain(minio.ErrorResponse{StatusCode: 503, Code: code})
		if want := "the service answered 503"; told && err.Error() != want+" "+code || !told && err.Error() != want {
			t.Errorf("%q: %v", code, err)
		}
	}
}

// Without a folder for what is read, reading says so.
func TestNoFolderForObjects(t *testing.T) {
	b := &bucket{dir: filepath.Join(t.TempDir(), "none")}
	if file, err := b.nameless(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, %v", file, err)
	}
}

// A store has one identity, whatever its address leaves out.
func TestIdentity(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "the-id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
	for address, want := range map[string]string{
		"file":                                                     "file",
		"s3://images?region=eu-central-1":                          "s3://images",
		"s3://images/?region=eu-central-1":                         "s3://images",
		"s3://images/a/b/?region=us-east-1":                        "s3://images/a/b",
		"s3://images/a?endpoint=http://h:90":                       "s3://images/a?endpoint=http://h:90",
		"s3://images/a?endpoint=https://s3.amazonaws.com&region=x": "s3://images/a",
		"s3://images/a?region=x&endpoint=http://h:90/":             "s3://images/a?endpoint=http://h:90",
	} {
		if got, err := Identity(address, Images); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", address, got, err, want)
		}
	}
	if got, err := Identity("ftp://images", Images); err == nil {
		t.Errorf("no address is %q", got)
	}
}

func TestAddress(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "the-id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
	for address, ok := range map[string]bool{
		"file":                            true,
		"s3://images?region=eu-central-1": true,
		"s3://images/a/b?endpoint=https://s3.example:9000": true,
		"s3://images?endpoint=http://minio:9000/&region=x": true,
		"":                                   false,
		"File":                               false,
		"file:///var/lib":                    false,
		"s3:images":                          false,
		"s3://":                              false,
		"s3://images":                        false,
		"s3://Images?region=x":               false,
		"s3://images:80?region=x":            false,
		"s3://images/../x?region=x":          false,
		"s3://images/a//b?region=x":          false,
		"s3://images/%00?region=x":           false,
		"s3://images?region=x&secret=leak-1": false,
		"s3://images?region=x#leak-1":        false,
		"s3://images?region=%zz":             false,
		"s3://images?region=x;y":             false,
		"s3://key:leak-1@images?region=x":    false,
		"s3://leak-1@images?region=x":        false,
		"s3://images?endpoint=https://key:leak-1@s3.example": false,
		"s3://images?endpoint=s3.example":                    false,
		"s3://images?endpoint=ftp://s3.example":              false,
		"s3://images?endpoint=https://s3.example/leak-1":     false,
		"s3://images?endpoint=https://s3.example%3Fx=leak-1": false,
		"s3://images?endpoint=https://":                      false,
		"s3://key:leak-1%zz@images":                          false,
	} {
		_, err := Open(address, t.TempDir(), Images)
		if (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), "leak-1") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, endpoint := range []string{"https://key:leak-1@s3.example", "s3.example", "ftp://s3.example", "https://s3.example/leak-1",
		"https://s3.example%3Fx=leak-1", "https://s3.example%23leak-1", "https://", "%2525"} {
		if _, err := Open("s3://images?endpoint="+endpoint, t.TempDir(), Images); err == nil ||
			!strings.Contains(err.Error(), "endpoint is not an address such as https://") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
	for _, endpoint := range []string{"https://-s3.example", "https://" + strings.Repeat("s3.", 90) + "example"} {
		if _, err := Open("s3://images?endpoint="+endpoint, t.TempDir(), Images); err == nil ||
			!strings.Contains(err.Error(), "endpoint is not a host") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
	for _, address := range []string{"s3://key:leak-1@images?region=x", "s3://leak-1@images", "s3://leak-1@"} {
		if _, err := Open(address, t.TempDir(), Images); err == nil ||
			!strings.Contains(err.Error(), "must not hold credentials") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, missing := range []string{"AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"} {
		t.Setenv("AWS_ACCESS_KEY_ID", "the-id")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "the-secret")
		t.Setenv(missing, "")
		if _, err := Open("s3://images?region=x", "", Images); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}
