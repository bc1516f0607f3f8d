package process_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/waymarkhq/waymark/internal/asset"
	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/store"
)

// s3 is an S3 server whose answers to PUT and DELETE can be held back after
// they took effect.
type s3 struct {
	*httptest.Server
	backend *s3mem.Backend
	mu      sync.Mutex
	held    chan struct{} // told of each answer that is held back; nil holds none
}

// newS3 starts a server whose keys are in the environment of the test.
func newS3(t *testing.T) *s3 {
	t.Helper()
	for _, key := range s3Keys {
		name, value, _ := strings.Cut(key, "=")
		t.Setenv(name, value)
	}
	return startS3(t)
}

// s3Keys are those that the program has for the server.
var s3Keys = []string{"AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret"}

func startS3(t *testing.T) *s3 {
	t.Helper()
	s := &s3{backend: s3mem.New()}
	if err := s.backend.CreateBucket("images"); err != nil {
		t.Fatal(err)
	}
	fake := gofakes3.New(s.backend).Server()
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		held := s.held
		s.mu.Unlock()
		if held == nil || r.Method != http.MethodPut && r.Method != http.MethodDelete {
			fake.ServeHTTP(w, r)
			return
		}
		fake.ServeHTTP(httptest.NewRecorder(), r)
		held <- struct{}{}
		<-r.Context().Done() // until the client is gone
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *s3) address() string { return "s3://images/waymark?endpoint=" + s.URL + "&region=us-east-1" }

// hold holds back answers from now on, or no more.
func (s *s3) hold(on bool) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held = nil; on {
		s.held = make(chan struct{}, 10)
	}
	return s.held
}

func (s *s3) objects(t *testing.T) int {
	t.Helper()
	list, err := s.backend.ListBucket("images", nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Contents)
}

// upload sends an image; an error means that no whole answer came.
func (c *client) upload(app, key string, content []byte) (answer, error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	w.WriteField("appId", app)
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="x.png"`},
		"Content-Type": {"image/png"}})
	if err != nil {
		return answer{}, err
	}
	part.Write(content)
	w.Close()
	r, err := http.NewRequest("POST", c.base+"/assets", &body)
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("Idempotency-Key", key)
	response, err := c.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, header: response.Header}
	a.body, err = io.ReadAll(response.Body)
	return a, err
}

// A process that is killed between the asset store and the database leaves
// neither a record without bytes nor bytes without a record: the client that
// repeats its request gets the same object, and for one that does not a sweep
// tidies up.
func TestKilledBetweenStores(t *testing.T) {
	files := newS3(t)
	for n, database := range []string{"sqlite", addressOf(t, "postgres")} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			dir := t.TempDir()
			start := func() *server { return serve(t, dir, database, "--dev", "--asset-store", files.address()) }
			s := start()
			token := s.token("ann@example.com")
			c := s.client(token)
			app := dataOf[link](t, c.must(t, 201, intent{method: "POST", path: "/apps",
				body: map[string]any{"name": "App"}})).ID
			var picture bytes.Buffer
			if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 9, 9))); err != nil {
				t.Fatal(err)
			}
			// cut kills the process once the asset store has done what it was
			// asked, before it could say so.
			cut := func(request func()) {
				t.Helper()
				held := files.hold(true)
				var done sync.WaitGroup
				done.Go(request)
				select {
				case <-held:
				case <-time.After(patience):
					t.Fatal("the asset store was not asked")
				}
				s.kill()
				files.hold(false)
				done.Wait()
				s = start()
				c = s.client(token)
			}
			before := files.objects(t)
			key := uuid.NewString()
			cut(func() {
				if a, err := c.upload(app, key, picture.Bytes()); err == nil {
					t.Errorf("an answer of a killed process: %s", a)
				}
			})
			if n := len(list(t, c, app)); n != 0 {
				t.Errorf("%d images are listed after the crash", n)
			}
			a, err := c.upload(app, key, picture.Bytes())
			if err != nil || a.status != 201 || files.objects(t) != before+1 {
				t.Fatalf("repeated: %s, %v; %d objects", a, err, files.objects(t)-before)
			}
			uploaded := dataOf[link](t, a)

			removal := intent{method: "DELETE", path: "/assets/" + uploaded.ID, key: uuid.NewString(),
				ifMatch: uploaded.Revision}
			cut(func() { c.call(removal) })
			if a := c.must(t, 200, intent{method: "GET", path: "/assets/" + uploaded.ID}); !bytes.Contains(a.body,
				[]byte(`"state":"deleting"`)) {
				t.Errorf("after a crash in its removal: %s", a)
			}
			c.must(t, 204, removal)
			c.must(t, 404, intent{method: "GET", path: "/assets/" + uploaded.ID})
			if n := files.objects(t) - before; n != 0 {
				t.Errorf("%d objects are left", n)
			}

			// Nobody repeats it.
			cut(func() { c.upload(app, uuid.NewString(), picture.Bytes()) })
			s.terminate()
			later := &clock.Clock{}
			later.Move(time.Hour)
			address := database
			if database == "sqlite" {
				address = "sqlite:" + dir + "/waymark.db"
			}
			db, err := store.Open(t.Context(), address, later)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			blobs, err := blob.Open(files.address(), dir, blob.Images)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := asset.Sweep(t.Context(), db, blobs, 100); n != 1 || err != nil {
				t.Errorf("swept %d, %v", n, err)
			}
			left, err := store.One(t.Context(), db, store.Value[int], "SELECT COUNT(*) FROM asset")
			if err != nil || left != 0 || files.objects(t) != before {
				t.Errorf("%d records and %d objects are left, %v", left, files.objects(t)-before, err)
			}
		})
	}
}

func list(t *testing.T, c *client, app string) []link {
	t.Helper()
	return dataOf[[]link](t, c.must(t, 200, intent{method: "GET", path: "/assets?appId=" + app}))
}

// An asset store that cannot work is told at the start, in plain words.
func TestAssetStoreSettings(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	for address, want := range map[string]string{
		"ftp://x":            "neither file nor an s3:// address",
		"s3://":              "is not s3://bucket/prefix",
		"s3://key:secret@b":  "must not hold credentials",
		"s3://b?endpoint=x":  "is not an address such as",
		"s3://b?endpiont=x":  `unknown setting "endpiont"`,
		"s3://bucket/prefix": "AWS_ACCESS_KEY_ID",
	} {
		stderr, code := second(t, exec.Command(binary, serveArgs(t.TempDir(), "sqlite", "--asset-store", address)...))
		if code != 1 || !bytes.Contains([]byte(stderr), []byte(want)) {
			t.Errorf("%s: exit code %d, %q", address, code, stderr)
		}
		if bytes.Contains([]byte(stderr), []byte("secret@")) {
			t.Errorf("%s: the message shows a secret: %q", address, stderr)
		}
	}
}
