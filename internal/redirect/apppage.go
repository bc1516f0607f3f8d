package redirect

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/route"
)

// openApp answers with the page that opens the app.
func (h *Handler) openApp(w http.ResponseWriter, r *http.Request, host *route.Host, link *route.Link,
	a *route.App) outcome {
	return h.show(w, r, host, a.Base, a.Template, &page.Visit{
		Title: link.Title, Description: link.Description,
		OpenURI: a.NativeURI, Fallback: a.Fallback(), Automatic: a.Opening == route.OpenAutomatic,
		InstallURL: a.InstallURL, WebURL: a.WebURL,
	})
}

// show answers with a page of a template, and adds to v what all pages of a host
// have. When a template cannot be read, the official one serves.
func (h *Handler) show(w http.ResponseWriter, r *http.Request, host *route.Host, base binding.Base, name string,
	v *page.Visit) outcome {
	template, err := h.Cache.Template(r.Context(), base, name, host.AppID)
	if err != nil && h.awayLog.allows(time.Now()) {
		h.Log.Warn("a page is shown with the official template", "error", err)
	}
	v.AppName, v.AppLogo, v.Nonce = host.AppName, host.AppLogo, newNonce()
	body := template.Append(nil, v)
	answer := fixed{
		status: http.StatusOK, outcome: paged, body: body,
		contentType: htmlType, cacheControl: privateNoStore, length: []string{strconv.Itoa(len(body))},
		policy: []string{page.Policy(v.Nonce)},
	}
	return answer.write(w, r)
}

// newNonce returns 128 random bits for a Content-Security-Policy.
func newNonce() string {
	var random [16]byte
	rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}
