package server

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/waymarkhq/waymark/api"
	"github.com/waymarkhq/waymark/internal/fault"
)

// The API reference is @scalar/api-reference 1.46.4 (MIT), vendored as one
// file so that the pages work without any other host.
//
//go:embed static/api-reference.js.gz
var referenceScript []byte

//go:embed static/reference.html
var referencePage []byte

//go:embed static/errors.html
var errorsPage string

//go:embed static/docs.css
var docsStyle string

// errorText explains each code on the page that documentationUrl points to.
var errorText = map[fault.Code]string{
	fault.InvalidRequest:         "A header, the query, a cursor or the JSON of the body is malformed. error.details names the place. Mend the request; repeating it as it is will not help.",
	fault.Unauthenticated:        "The credential is missing, invalid, expired or revoked. Send Authorization: Bearer with a human session or an API key of this environment.",
	fault.InsufficientPermission: "The key lacks the operation's permission, or the operation needs a human session.",
	fault.NotFound:               "There is no such route or resource, or it is outside the apps that the credential reaches.",
	fault.MethodNotAllowed:       "The route exists, but not with this method. The Allow header lists those it has.",
	fault.IdempotencyConflict:    "This Idempotency-Key was used within 24 hours for another request. Use a new key for a new intent; error.resource.id names the resource of the earlier one.",
	fault.OperationInProgress:    "A request with the same Idempotency-Key is being processed. Wait for Retry-After, then repeat the same request.",
	fault.SecretNotReplayable:    "The secret was issued by the earlier request and is not kept. Location and error.resource.id name what was created; rotate it when its secret was lost.",
	fault.ResourceConflict:       "The state of the resource, another resource with the same identity, or dependents stand against the request. error.dependencies lists dependents.",
	fault.RevisionConflict:       "The revision in If-Match is not the current one: somebody changed the resource. Read it again and reconcile before sending the change.",
	fault.PayloadTooLarge:        "The body is larger than the operation accepts: 32 KiB for JSON.",
	fault.UnsupportedMediaType:   "The Content-Type or Content-Encoding is not one that the operation reads. JSON operations read application/json in UTF-8.",
	fault.ValidationFailed:       "The JSON is well formed, but a field is unknown, missing, of the wrong type or against a rule. error.details names each field by JSON Pointer.",
	fault.PreconditionRequired:   "The operation changes an existing resource. Send If-Match with the revision that was last read, in double quotes.",
	fault.RateLimited:            "A window is exhausted. X-RateLimit-Policy names it; wait for Retry-After seconds. More keys do not widen what an account or app shares.",
	fault.Internal:               "The service failed. Quote the request id when asking for help; whether a mutation took effect can be found out by repeating the same request with the same key.",
	fault.Unavailable:            "A part of the service cannot be reached for now. Wait for Retry-After and repeat the same request with the same key.",
}

// mountDocuments mounts what needs no credential: the contract, its reference
// and the pages about errors.
func (h *Handler) mountDocuments() {
	// Converted when first asked for: most processes never are.
	contractJSON := sync.OnceValue(func() []byte {
		text, err := yaml.YAMLToJSON(api.Contract)
		if err != nil {
			panic(err) // the contract is part of this program
		}
		return text
	})
	style := sha256.Sum256([]byte(docsStyle))
	styleHash := "'sha256-" + base64.StdEncoding.EncodeToString(style[:]) + "'"
	mount := func(pattern, contentType, policy string, body func() []byte, headers ...string) {
		h.mount(http.MethodGet, pattern, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			header := w.Header()
			header.Set("Content-Type", contentType)
			header.Set("Content-Security-Policy", policy)
			header.Set("X-Content-Type-Options", "nosniff")
			header.Set("Referrer-Policy", "no-referrer")
			for i := 0; i+1 < len(headers); i += 2 {
				header.Set(headers[i], headers[i+1])
			}
			w.Write(body())
		}))
	}
	static := func(pattern, contentType, policy string, body []byte, headers ...string) {
		mount(pattern, contentType, policy, func() []byte { return body }, headers...)
	}
	const nothing = "default-src 'none'"
	static("/openapi.yaml", "application/yaml; charset=utf-8", nothing, api.Contract)
	mount("/openapi.json", "application/json; charset=utf-8", nothing, contractJSON)
	// The reference styles its elements itself; it may load nothing from
	// elsewhere.
	const reference = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
	static("/docs", "text/html; charset=utf-8", reference, referencePage)
	static("/docs/api-reference.js", "text/javascript; charset=utf-8", nothing, referenceScript, "Content-Encoding", "gzip", "Cache-Control", "public, max-age=86400")
	static("/docs/start.js", "text/javascript; charset=utf-8", nothing, []byte(referenceStart))
	page := "default-src 'none'; style-src " + styleHash + "; frame-ancestors 'none'; base-uri 'none'"
	errors := renderErrors()
	static("/docs/api/errors/{$}", "text/html; charset=utf-8", page, errors)
	static("/docs/api/errors", "text/html; charset=utf-8", page, errors)
}

// referenceStart is a file of its own so that the page needs no inline script.
const referenceStart = `Scalar.createApiReference('#app', {
  url: '/openapi.json',
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
})
`

func renderErrors() []byte {
	type entry struct {
		Anchor, Code, Text, StatusText string
		Status                         int
	}
	var entries []entry
	for _, row := range fault.Codes {
		entries = append(entries, entry{
			Anchor: strings.ReplaceAll(string(row.Code), "_", "-"), Code: string(row.Code), Text: errorText[row.Code],
			Status: row.Status, StatusText: http.StatusText(row.Status),
		})
	}
	var b bytes.Buffer
	t := template.Must(template.New("errors").Parse(errorsPage))
	if err := t.Execute(&b, map[string]any{"Style": template.CSS(docsStyle), "Errors": entries}); err != nil {
		panic(err) // the template and its data are parts of this program
	}
	return b.Bytes()
}
