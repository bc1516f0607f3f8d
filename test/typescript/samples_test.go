package typescript

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// blocks returns the examples of a page in one language, as one program.
func blocks(t *testing.T, page, language string) string {
	t.Helper()
	var all []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(read(t, page)), -1) {
		all = append(all, m[1])
	}
	if len(all) < 4 {
		t.Fatalf("%s has %d examples in %s", page, len(all), language)
	}
	return strings.Join(all, "\n")
}

// fill puts what the server has in the place of what a page names.
func (s *server) fill(t *testing.T, program string) (filled string, webhook delivery) {
	t.Helper()
	printed := s.node(t, "deliver.mjs")
	var given struct {
		AppID    string   `json:"appId"`
		Domain   string   `json:"domain"`
		Secret   string   `json:"secret"`
		Delivery delivery `json:"delivery"`
	}
	if err := json.Unmarshal([]byte(printed), &given); err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	for name, value := range map[string]string{"https://waymark.example.com": s.api, "svc_live_key": s.token, "app_01": given.AppID,
		"go.example.com": given.Domain, "whsec_secret": given.Secret} {
		if !strings.Contains(program, `"`+name+`"`) {
			t.Errorf("no example names %s", name)
		}
		program = strings.ReplaceAll(program, `"`+name+`"`, `"`+value+`"`)
	}
	return program, given.Delivery
}

// The examples for TypeScript compile, and do what they say.
func TestSamples(t *testing.T) {
	s := serve(t, "sqlite")
	for page, prints := range map[string]string{
		filepath.Join(source, "README.md"): "/spring\nspring http",
		"../../docs/clients.md":            "/spring\nspring Spring sale\n",
	} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			program, webhook := s.fill(t, blocks(t, page, "ts"))
			headers, err := json.Marshal(webhook.Headers)
			if err != nil {
				t.Fatal(err)
			}
			body, err := json.Marshal(webhook.Body)
			if err != nil {
				t.Fatal(err)
			}
			program += "\nconst sent = { method: 'POST', headers: " + string(headers) + ", body: " + string(body) + " };\n" +
				"console.log((await receive(new Request('https://example.com/hook', sent))).status);\n" +
				"await receive(new Request('https://example.com/hook', { ...sent, body: 'x' })).catch((error) => console.log(error.name));\n"
			name := strings.TrimSuffix(filepath.Base(page), ".md") + ".sample"
			if err := os.WriteFile(filepath.Join(user, name+".mts"), []byte(program), 0o600); err != nil {
				t.Fatal(err)
			}
			compile(t, name+".mts")
			if out := s.node(t, name+".mjs"); !strings.Contains(out, prints) || !strings.HasSuffix(out, "\n204\nSignatureError\n") {
				t.Errorf("printed %s", out)
			}
		})
	}
}

// main calls what the examples for Go have.
const main = `package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
)

func main() {
	ctx := context.Background()
	l, err := create(ctx)
	fmt.Println(strings.HasSuffix(l.URL, "/spring"), err)
	fmt.Println(rename(ctx, l, "Spring sale"))
	explain(rename(ctx, l, "Autumn sale"))
	fmt.Println(list(ctx, l.AppID))
	for _, body := range []string{os.Args[2], "x"} {
		r := httptest.NewRequest("POST", "/", strings.NewReader(body))
		r.Header = http.Header{"Service-Signature": {os.Args[1]}}
		w := httptest.NewRecorder()
		receive(w, r)
		fmt.Println(w.Code)
	}
}
`

// The examples for Go compile, are formatted, and do what they say.
func TestGoSamples(t *testing.T) {
	s := serve(t, "sqlite")
	page := blocks(t, "../../docs/clients.md", "go")
	program, webhook := s.fill(t, page)
	dir := t.TempDir()
	for name, text := range map[string]string{"page.go": program, "main.go": main} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gofmt := exec.Command("gofmt", "-d")
	gofmt.Stdin = strings.NewReader(page)
	if out, err := gofmt.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("gofmt: %v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), "go", "run", "-trimpath", filepath.Join(dir, "page.go"), filepath.Join(dir, "main.go"),
		webhook.Headers["Service-Signature"], webhook.Body)
	var told bytes.Buffer
	run.Stderr = &told
	out, err := run.Output()
	if err != nil || string(out) != "true <nil>\n<nil>\n<nil>\n204\n403\n" {
		t.Errorf("%v, printed %s", err, out)
	}
	for _, want := range []string{"revision_conflict 412", "spring http"} {
		if !strings.Contains(told.String(), want) {
			t.Errorf("%s is not in %s", want, &told)
		}
	}
}
