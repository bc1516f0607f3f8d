package webhooks

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/apitest"
	"github.com/waymarkhq/waymark/internal/outbound"
)

// install gets the packages as package-lock.json has them.
var install = sync.OnceValue(func() error {
	if _, err := os.Stat("node_modules/stripe/package.json"); err == nil {
		return nil
	}
	out, err := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").CombinedOutput()
	if err != nil {
		return &exec.Error{Name: "npm ci: " + string(out), Err: err}
	}
	return nil
})

// sent is a request as a receiver gets it.
type sent struct{ header, body string }

// sample is what Waymark sends: with one secret, and with two during a
// rotation.
func sample(t *testing.T) (single, double sent, old, fresh string, now time.Time) {
	t.Helper()
	arrived := make(chan sent, 2)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- sent{r.Header.Get("Service-Signature"), string(body)}
	}))
	t.Cleanup(receiver.Close)
	ca := x509.NewCertPool()
	ca.AddCert(receiver.Certificate())
	i := apitest.New(t, "sqlite", apitest.Options{Outbound: outbound.Options{
		Allow: map[string]netip.AddrPort{"example.com": netip.MustParseAddrPort(receiver.Listener.Addr().String())},
		CA:    ca,
	}})
	key := i.Prepared(t, "ann@example.com").Key("webhooks:create", "webhooks:test", "webhooks:rotate_secret")
	r := key.Call("POST", "/webhooks", apitest.M{"appId": key.AppID, "url": "https://example.com/hook",
		"events": []string{"link.created"}}).Want(201)
	path := "/webhooks/" + r.Text("data.webhook.id")
	next := func() sent {
		key.Call("POST", path+"/test", apitest.M{}).Want(202)
		i.Deliver(t)
		select {
		case s := <-arrived:
			return s
		default:
			t.Fatal("nothing arrived")
			return sent{}
		}
	}
	single = next()
	rotated := key.Call("POST", path+"/rotate-secret", apitest.M{"overlapSeconds": 60},
		apitest.IfMatch(r.Text("data.webhook.revision"))).Want(200)
	return single, next(), r.Text("data.secret"), rotated.Text("data.secret"), i.Clock.Now().Time()
}

func TestVerifiers(t *testing.T) {
	if err := install(); err != nil {
		t.Fatal(err)
	}
	single, double, old, fresh, now := sample(t)
	timestamp, signature, _ := strings.Cut(single.header, ",")
	type verdict struct{ Ours, Stripe bool }
	both := verdict{true, true}
	type c struct {
		name   string
		Secret string `json:"secret"`
		Header string `json:"header"`
		Body   string `json:"body"`
		Now    int64  `json:"now"`
		want   verdict
	}
	after := func(d time.Duration) int64 { return now.Add(d).UnixMilli() }
	header := func(text string) c { return c{text, old, text, single.body, after(0), verdict{}} }
	cases := []c{
		{"good", old, single.header, single.body, after(0), both},
		{"body changed", old, single.header, strings.Replace(single.body, "true", "false", 1), after(0), verdict{}},
		{"body written anew", old, single.header, strings.ReplaceAll(single.body, ":", ": "), after(0), verdict{}},
		{"another secret", fresh, single.header, single.body, after(0), verdict{}},
		{"secret without its prefix", strings.TrimPrefix(old, "whsec_"), single.header, single.body, after(0),
			verdict{}},
		{"300 seconds late", old, single.header, single.body, after(300 * time.Second), both},
		{"301 seconds late", old, single.header, single.body, after(301 * time.Second), verdict{}},
		{"300 seconds early", old, single.header, single.body, after(-300 * time.Second), both},
		// Stripe's looks at the past alone.
		{"301 seconds early", old, single.header, single.body, after(-301 * time.Second), verdict{false, true}},
		{"rotation, old secret", old, double.header, double.body, after(0), both},
		{"rotation, new secret", fresh, double.header, double.body, after(0), both},
		{"rotation, another secret", "whsec_x", double.header, double.body, after(0), verdict{}},
		{"an unknown scheme besides", old, timestamp + ",v0=00," + signature + ",v2=xyz", single.body, after(0), both},
		header(""), header(","), header(timestamp), header(timestamp + ","), header(signature),
		header(timestamp + ",v1="), header(timestamp + ",v0=" + strings.TrimPrefix(signature, "v1=")),
		header(single.header[:len(single.header)-1]), header(single.header + "0"),
		header(timestamp + ",v1=" + strings.Repeat("z", 64)),
		header("t=now," + signature), header("t=," + signature), header("t=123456789," + signature),
		header("t=" + strings.Repeat("1", 13) + "," + signature),
	}
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	node := exec.Command("node", "judge.mjs")
	node.Stdin = bytes.NewReader(input)
	var complaint bytes.Buffer
	node.Stderr = &complaint
	output, err := node.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, complaint.Bytes())
	}
	var verdicts []verdict
	if err := json.Unmarshal(output, &verdicts); err != nil || len(verdicts) != len(cases) {
		t.Fatalf("%s: %v", output, err)
	}
	for i, c := range cases {
		if verdicts[i] != c.want {
			t.Errorf("%s (%s): %+v, want %+v", c.name, c.Header, verdicts[i], c.want)
		}
		if got := Verify(c.Secret, c.Header, []byte(c.Body), time.UnixMilli(c.Now)); got != c.want.Ours {
			t.Errorf("%s (%s): the one in Go says %v", c.name, c.Header, got)
		}
	}
	if n := strings.Count(double.header, "v1="); n != 2 || strings.Count(single.header, "v1=") != 1 ||
		timestamp != "t="+strconv.FormatInt(now.Unix(), 10) {
		t.Errorf("headers %s and %s", single.header, double.header)
	}
}

// The documentation shows the verifiers that are tested here.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, language := range map[string]string{"verify.go": "go", "verify.mjs": "js"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), "```"+language+"\n"+string(text)+"```\n") {
			t.Errorf("docs/webhooks.md does not show %s as it is", file)
		}
	}
}
