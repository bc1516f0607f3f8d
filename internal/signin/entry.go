package signin

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
)

const (
	// home is the dashboard. Nobody is led anywhere else.
	home = "/dashboard/"
	// entryLifetime is how long a person may take at the issuer.
	entryLifetime = 10 * time.Minute
	// longestWay bounds the address to which somebody wants to come back, in bytes.
	longestWay = 1000
	// longestAnswer bounds what an issuer sends back with the browser, in bytes.
	longestAnswer = 4096
)

// entry is what the browser keeps while it is at the issuer.
type entry struct {
	actor.Entry
	To    string
	Until clock.Instant
	// Before is the digest of the secret that the browser had when it began: it does not bring
	// its session when it comes back, as that is a way from another site.
	Before string
}

// seal returns the text of an entry, which nobody else can make.
func (h *Handler) seal(e entry) (string, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(h.mac(text), text...)), nil
}

// unseal returns what seal sealed, unless its time is over.
func (h *Handler) unseal(sealed string) (e entry, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || len(b) < sha256.Size {
		return e, false
	}
	mac, text := b[:sha256.Size], b[sha256.Size:]
	ok = hmac.Equal(mac, h.mac(text)) && json.Unmarshal(text, &e) == nil && h.db().Now() < e.Until
	return e, ok
}

func (h *Handler) mac(text []byte) []byte {
	m := hmac.New(sha256.New, h.Key)
	m.Write(text)
	return m.Sum(nil)
}

// way returns the address in the dashboard that somebody wants to come to, home where it is
// none.
func way(wanted string) string {
	u, err := url.Parse(wanted)
	if err != nil || len(wanted) > longestWay || u.Scheme != "" || u.Host != "" || u.User != nil || strings.ContainsRune(wanted, '\\') ||
		!strings.HasPrefix(u.Path, home) || !strings.HasPrefix(path.Clean(u.Path)+"/", home) {
		return home
	}
	return u.String()
}

// begin leads the browser to the issuer.
func (h *Handler) begin(c *call) error {
	if h.Issuer == nil {
		return fault.Missing()
	}
	e := entry{Entry: actor.NewEntry(h.site.Origin + "/auth/callback"), To: way(c.r.URL.Query().Get("to")),
		Until: h.db().Now().Add(entryLifetime), Before: h.session(c)}
	address, err := h.Issuer.Begin(c.ctx, e.Entry)
	if err != nil {
		return h.fail(c, err)
	}
	sealed, err := h.seal(e)
	if err != nil {
		return err
	}
	h.site.SetEntry(c.w, sealed, entryLifetime)
	return c.lead(address)
}

// The problems with which a sign-in ends before the issuer's token is asked for, besides those
// of actor.Problem.
const (
	// problemExpired: the browser comes too late, or did not begin here.
	problemExpired = "expired"
	// problemDenied: the person, or the issuer, did not want to.
	problemDenied = "denied"
)

// finish signs in the browser that comes back from the issuer. Whatever goes wrong is shown by
// the dashboard.
func (h *Handler) finish(c *call) error {
	if h.Issuer == nil {
		return fault.Missing()
	}
	e, ok := h.unseal(h.site.Entry(c.r))
	h.site.SetEntry(c.w, "", 0)
	answer, err := url.ParseQuery(c.r.URL.RawQuery)
	if !ok || err != nil || len(c.r.URL.RawQuery) > longestAnswer ||
		subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(e.State)) == 0 {
		return h.lead(c, problemExpired, errors.New("the browser did not begin here within ten minutes"))
	}
	// RFC 9207: another issuer may have sent the browser.
	if from := answer.Get("iss"); from != "" && from != h.Issuer.URL {
		return h.lead(c, "failed", errors.New("the answer names another issuer"))
	}
	if refused := answer.Get("error"); refused != "" || answer.Get("code") == "" {
		problem := "failed"
		if refused == "access_denied" {
			problem = problemDenied
		}
		return h.lead(c, problem, errors.New("the issuer answers with an error, or without a code: "+word(refused)))
	}
	secret, err := h.Issuer.Finish(c.ctx, h.db(), e.Entry, answer.Get("code"), h.browser(c))
	if err == nil {
		err = h.enter(c, secret, e.Before)
	}
	if err != nil {
		return h.fail(c, err)
	}
	return c.lead(way(e.To))
}

// word returns the name of an error (RFC 6749 §4.1.2.1) for the log, "" for what is none.
func word(name string) string {
	if len(name) > 50 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return ""
	}
	return name
}

// fail leads the browser to the page that tells why it was not signed in.
func (h *Handler) fail(c *call, err error) error { return h.lead(c, actor.Problem(err), err) }

// lead leads the browser to the page that explains a problem, and logs its cause.
func (h *Handler) lead(c *call, problem string, cause error) error {
	h.Log.Info("sign-in refused", "problem", problem, "request_id", c.id, "cause", cause)
	return c.lead(home + "#/signin?problem=" + problem)
}

// lead leads the browser to another address.
func (c *call) lead(address string) error {
	c.w.Header().Set("Location", address)
	c.w.Header().Set("Referrer-Policy", "no-referrer")
	c.w.WriteHeader(http.StatusSeeOther)
	return nil
}
