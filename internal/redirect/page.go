package redirect

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
)

// Header values that never change are shared: net/http only reads them.
var (
	allowed        = []string{"GET, HEAD"}
	privateNoStore = []string{"private, no-store"}
	noStore        = []string{"no-store"}
	cacheForADay   = []string{"public, max-age=86400"}
	briefly        = []string{"public, max-age=300"}
	referrerPolicy = []string{"no-referrer-when-downgrade"}
	noReferrer     = []string{"no-referrer"}
	noSniff        = []string{"nosniff"}
	retryAfter     = []string{"5"}
	htmlType       = []string{"text/html; charset=utf-8"}
	textType       = []string{"text/plain; charset=utf-8"}
	jsonType       = []string{"application/json"}
)

// fixed is an answer whose bytes are known.
type fixed struct {
	status  int
	outcome outcome
	body    []byte

	contentType, cacheControl, length []string
	// policy is the Content-Security-Policy, nil when the answer is not a page.
	policy []string
}

func (f *fixed) write(w http.ResponseWriter, r *http.Request) outcome {
	header := w.Header()
	header["Content-Type"] = f.contentType
	header["Content-Length"] = f.length
	header["Cache-Control"] = f.cacheControl
	header["X-Content-Type-Options"] = noSniff
	if f.policy != nil {
		header["Content-Security-Policy"] = f.policy
		header["Referrer-Policy"] = noReferrer
	}
	w.WriteHeader(f.status)
	if r.Method != http.MethodHead {
		w.Write(f.body) // to a visitor who may be gone
	}
	return f.outcome
}

var (
	// nothing is the answer on a hostname that this installation does not serve.
	nothing = &fixed{status: http.StatusNotFound, outcome: notFound, cacheControl: noStore, length: []string{"0"}}

	robotsOpen   = newText(http.StatusOK, textType, briefly, "User-agent: *\nDisallow:\n")
	robotsClosed = newText(http.StatusOK, textType, briefly, "User-agent: *\nDisallow: /\n")

	okHealth          = newText(http.StatusOK, jsonType, noStore, `{"status":"ok"}`)
	degradedHealth    = newText(http.StatusOK, jsonType, noStore, `{"status":"degraded"}`)
	unavailableHealth = newText(http.StatusServiceUnavailable, jsonType, noStore, `{"status":"unavailable"}`)
)

func newText(status int, contentType, cacheControl []string, body string) *fixed {
	return &fixed{
		status: status, outcome: service, body: []byte(body),
		contentType: contentType, cacheControl: cacheControl, length: []string{strconv.Itoa(len(body))},
	}
}

//go:embed page.css
var pageStyle string

// contentPolicy returns the Content-Security-Policy of a page that may load
// only what the policy names.
func contentPolicy(sources ...string) []string {
	return []string{"default-src 'none'; " + strings.Join(sources, "; ") +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}
}

// hashSource names a style or script in a Content-Security-Policy by its hash.
func hashSource(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
