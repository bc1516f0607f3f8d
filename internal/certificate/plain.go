package certificate

import (
	"net/http"
	"strings"

	"github.com/waymarkhq/waymark/internal/weburl"
)

// Plain returns the handler of the listener on port 80: it answers the authority and
// sends visitors to https. At hostnames that are not served it says nothing. A target that
// is no path is refused: in a redirect it would go on with the hostname.
func (m *Manager) Plain() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hostname, ok := weburl.AuthorityHost(r.Host)
		switch {
		case !ok || !m.serves(hostname):
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusNotFound)
		case strings.HasPrefix(r.URL.Path, challengePath):
			m.answerChallenge(w, r, hostname)
		case !strings.HasPrefix(r.URL.RequestURI(), "/"):
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusBadRequest)
		default:
			w.Header().Set("Location", "https://"+hostname+r.URL.RequestURI())
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusPermanentRedirect)
		}
	})
}
