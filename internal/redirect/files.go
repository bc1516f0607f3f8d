package redirect

import (
	"io"
	"net/http"
	"strconv"

	"github.com/waymarkhq/waymark/internal/route"
)

func robots(w http.ResponseWriter, r *http.Request, noIndex bool) outcome {
	if noIndex {
		return robotsClosed.write(w, r)
	}
	return robotsOpen.write(w, r)
}

// association answers what stands below /.well-known/: the files in which iOS and
// Android look up the apps of a hostname. Both refuse a file that they are
// redirected to.
func (h *Handler) association(w http.ResponseWriter, r *http.Request, host *route.Host, path string) outcome {
	var text string
	switch path {
	case ".well-known/apple-app-site-association":
		text = host.AppleAppSiteAssociation
	case ".well-known/assetlinks.json":
		text = host.AssetLinks
	}
	if text == "" {
		return h.notify(w, r, host, notFoundNotice)
	}
	header := w.Header()
	header["Content-Type"] = jsonType
	header["Content-Length"] = []string{strconv.Itoa(len(text))}
	header["Cache-Control"] = briefly
	header["X-Content-Type-Options"] = noSniff
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		io.WriteString(w, text) // to a visitor who may be gone
	}
	return service
}
