package server

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/waymarkhq/waymark/api"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/server/site"
)

// The API reference is Redoc 2.5.4 (MIT), vendored as one file so that the
// pages work without any other host: redoc.standalone.js of the npm package
// redoc, through gzip -9n. A new version gets a new referencePath.
//
//go:embed static/redoc.js.gz
var referenceScript []byte

const referencePath = "/docs/redoc-2.5.4.js"

//go:embed static/reference.html
var referencePage []byte

//go:embed static/errors.html
var errorsPage string

//go:embed static/favicon.svg
var favicon []byte

// The same picture for browsers that take no SVG, in 16 and 32 pixels:
// rsvg-convert draws them.
//
//go:embed static/favicon.ico
var faviconICO []byte

// errorText explains each code on the page that documentationUrl points to.
var errorText = map[fault.Code]string{
	fault.InvalidRequest: "A header, the query, a cursor or the JSON of the body is malformed. error.details " +
		"names the place. Mend the request; repeating it as it is will not help.",
	fault.Unauthenticated: "The credential is missing, invalid, expired or revoked. Send Authorization: " +
		"Bearer with a human session or an API key of this environment.",
	fault.InsufficientPermission: "The key lacks the operation's permission, or the operation needs a human session.",
	fault.NotFound: "There is no such route or resource, or it is outside the apps that the credential " +
		"reaches.",
	fault.MethodNotAllowed: "The route exists, but not with this method. The Allow header lists those it has.",
	fault.IdempotencyConflict: "This Idempotency-Key was used within 24 hours for another request. Use a new key " +
		"for a new intent; error.resource.id names the resource of the earlier one.",
	fault.OperationInProgress: "A request with the same Idempotency-Key is being processed. Wait for Retry-After, " +
		"then repeat the same request.",
	fault.SecretNotReplayable: "The secret was issued by the earlier request and is not kept. Location and " +
		"error.resource.id name what was created; rotate it when its secret was lost.",
	fault.ResourceConflict: "The state of the resource, another resource with the same identity, or dependents " +
		"stand against the request. error.dependencies lists dependents.",
	fault.RevisionConflict: "The revision in If-Match is not the current one: somebody changed the resource. " +
		"Read it again and reconcile before sending the change.",
	fault.PayloadTooLarge: "The body is larger than the operation accepts: 32 KiB for JSON.",
	fault.UnsupportedMediaType: "The Content-Type or Content-Encoding is not one that the operation reads. JSON " +
		"operations read application/json in UTF-8.",
	fault.ValidationFailed: "The JSON is well formed, but a field is unknown, missing, of the wrong type or " +
		"against a rule. error.details names each field by JSON Pointer.",
	fault.PreconditionRequired: "The operation changes an existing resource. Send If-Match with the revision that " +
		"was last read, in double quotes.",
	fault.RateLimited: "A window is exhausted, which X-RateLimit-Policy names, or a limit of the app is reached, " +
		"which the message names. Wait for Retry-After seconds. More keys do not widen what an account or app shares.",
	fault.Internal: "The service failed. Quote the request id when asking for help; whether a mutation took " +
		"effect can be found out by repeating the same request with the same key.",
	fault.Unavailable: "A part of the service cannot be reached for now. Wait for Retry-After and repeat the same " +
		"request with the same key.",
}

// mountDocuments mounts what needs no credential: the contract, its reference, the page about
// errors, and the rest of the documentation.
func (h *Handler) mountDocuments() {
	contractJSON := contentOf(func() []byte {
		text, err := yaml.YAMLToJSON(api.Contract())
		if err != nil {
			panic(err) // the contract is part of this program
		}
		return text
	})
	const (
		html       = "text/html; charset=utf-8"
		javascript = "text/javascript; charset=utf-8"
		// The reference styles its elements itself, and its search is a worker
		// that it makes. It may load nothing from elsewhere, and so does not get
		// the logo that it asks its maker's host for.
		mayScript = "default-src 'none'; script-src 'self'; worker-src blob:; style-src 'unsafe-inline'; img-src " +
			"'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
		mayStyle = "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'"
	)
	errors := &document{html, mayStyle, revalidated, contentOf(renderErrors)}
	documents := map[string]*document{
		"/openapi.yaml":     {"application/yaml; charset=utf-8", loadsNothing, revalidated, text(api.Contract())},
		"/openapi.json":     {"application/json; charset=utf-8", loadsNothing, revalidated, contractJSON},
		site.Reference:      {html, mayScript, revalidated, text(referencePage)},
		"/docs/start.js":    {javascript, loadsNothing, revalidated, text([]byte(referenceStart))},
		referencePath:       {javascript, loadsNothing, immutable, gzippedContent(referenceScript)},
		"/docs/api/errors":  errors,
		site.Errors + "{$}": errors,
		site.StylePath:      {"text/css; charset=utf-8", loadsNothing, immutable, text(site.StyleSheet)},
		"/favicon.svg":      {"image/svg+xml", loadsNothing, revalidated, text(favicon)},
		"/favicon.ico":      {"image/x-icon", loadsNothing, revalidated, text(faviconICO)},
	}
	for address, page := range site.Pages() {
		if strings.HasSuffix(address, "/") {
			address += "{$}"
		}
		documents[address] = &document{html, mayStyle, revalidated, contentOf(page)}
	}
	for address, file := range site.Files() {
		documents[address] = &document{fileTypes[path.Ext(address)], loadsNothing, revalidated, text(file)}
	}
	for pattern, d := range documents {
		h.mount(http.MethodGet, pattern, d)
	}
	h.mount(http.MethodGet, strings.TrimSuffix(site.Root, "/"), http.RedirectHandler(site.Root, http.StatusSeeOther))
	h.mount(http.MethodGet, "/{$}", http.HandlerFunc(root))
}

// root leads a person to the dashboard, and whoever else to the documentation. A program that
// does not follow reads where everything is.
func root(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("Vary", "Accept")
	if wantsPage(r) {
		w.Header().Set("Location", dashboardPath)
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	w.Header().Set("Location", site.Root)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(http.StatusFound)
	io.WriteString(w, `{"api":"/v1","docs":"/docs/","reference":"/docs/reference","contract":"/openapi.json","dashboard":"/dashboard/","errors":"/docs/api/errors/"}`)
}

// referenceStart is a file of its own so that the page needs no inline script.
const referenceStart = `Redoc.init('/openapi.json', {
  requiredPropsFirst: true,
  nativeScrollbars: true,
  theme: {
    colors: { primary: { main: '#2c55d8' } },
    typography: {
      fontFamily: 'system-ui, sans-serif',
      headings: { fontFamily: 'system-ui, sans-serif', fontWeight: '600' },
      code: { fontFamily: 'ui-monospace, monospace' },
    },
  },
}, document.getElementById('app'))
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
	if err := t.Execute(&b, map[string]any{"Errors": entries, "Reasons": fault.Reasons}); err != nil {
		panic(err) // the template and its data are parts of this program
	}
	return site.Layout(site.Content{Address: site.Errors, Title: "Errors of the API", Body: template.HTML(b.String())})
}
