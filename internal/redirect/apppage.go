package redirect

import (
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/text/language"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/page"
	"github.com/waymarkhq/waymark/internal/route"
)

// openApp answers with the page that opens the app.
func (h *Handler) openApp(w http.ResponseWriter, r *http.Request, host *route.Host, link *route.Link,
	a *route.App) outcome {
	return h.show(w, r, host, a.Base, a.Template, &page.Visit{
		Title: link.Title, Description: link.Description, Data: a.Data,
		OpenURI: a.NativeURI, Fallback: a.Fallback(), Automatic: a.Opening == route.OpenAutomatic,
		InstallURL: a.InstallURL, WebURL: a.WebURL, AppStoreID: a.AppStoreID, Address: a.Address,
	})
}

// show answers with a page of a template, and adds to v what all pages of a host
// have.
func (h *Handler) show(w http.ResponseWriter, r *http.Request, host *route.Host, base binding.Base, name string,
	v *page.Visit) outcome {
	v.AppName, v.AppLogo, v.Nonce, v.Language = host.AppName, host.AppLogo, newNonce(), languageOf(r)
	body := h.template(r, host, base, name).Append(nil, v)
	return writePage(w, r, http.StatusOK, paged, privateNoStore, v.Nonce, body)
}

// template returns a template of a host. One that cannot be read is replaced by the
// official one.
func (h *Handler) template(r *http.Request, host *route.Host, base binding.Base, name string) *page.Template {
	template, err := h.Cache.Template(r.Context(), base, name, host.AppID)
	if err != nil && r.Context().Err() == nil && h.awayLog.allows(time.Now()) {
		h.Log.Warn("a page is shown with the official template", "error", err)
	}
	return template
}

// writePage writes a page that package page made with a nonce. It differs by program
// and language of the visitor; as it is stored nowhere, it needs no Vary.
func writePage(w http.ResponseWriter, r *http.Request, status int, result outcome, cacheControl []string, nonce string,
	body []byte) outcome {
	answer := fixed{
		status: status, outcome: result, body: body,
		contentType: htmlType, cacheControl: cacheControl, length: []string{strconv.Itoa(len(body))},
		policy: []string{page.Policy(nonce)},
	}
	return answer.write(w, r)
}

// languageOf returns the language in which the product speaks to a visitor.
func languageOf(r *http.Request) language.Tag {
	values := r.Header["Accept-Language"]
	if len(values) == 0 {
		return language.English
	}
	return page.Language(values[0])
}

// newNonce returns 128 random bits for a Content-Security-Policy.
func newNonce() string {
	var random [16]byte
	rand.Read(random[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(random[:])
}
