package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/browser"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/part"
	"github.com/waymarkhq/waymark/internal/ratelimit"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/visitor"
)

// Options are what signing in needs besides the operations.
type Options struct {
	// Service authenticates and counts calls, and has the database.
	Service *op.Pipeline
	// Issuer is where people sign in elsewhere; nil for nowhere.
	Issuer *actor.Issuer
	// Key seals what browsers keep while they are at the issuer. All processes of an
	// installation have the same.
	Key []byte
	Log *slog.Logger
}

// Handler answers the calls at /auth.
type Handler struct {
	Options
	site   browser.Site
	agents *visitor.Visitors
	// passkeys is nil where browsers make none: they belong to a hostname, not to an address.
	passkeys *webauthn.WebAuthn
	// The bodies that the calls read.
	readLink     func(http.ResponseWriter, *http.Request) (linkBody, error)
	readAnswer   func(http.ResponseWriter, *http.Request) (answerBody, error)
	readRegister func(http.ResponseWriter, *http.Request) (registerBody, error)
}

// New returns the handler of an installation whose site is that of its service.
func New(o Options) (*Handler, error) {
	h := &Handler{Options: o, site: o.Service.Site, agents: visitor.New(visitor.Options{}),
		readLink: op.Body[linkBody](o.Log), readAnswer: op.Body[answerBody](o.Log),
		readRegister: op.Body[registerBody](o.Log)}
	var err error
	if h.passkeys, err = relyingParty(h.site); err != nil {
		return nil, fmt.Errorf("passkeys of %s: %w", h.site.Origin, err)
	}
	return h, nil
}

// Part returns what this package keeps.
func Part() part.Part {
	return part.Part{Name: "signin", Sweeps: []part.Sweep{{Name: "ceremonies with passkeys", Run: SweepCeremonies}}}
}

// Mount calls mount for each call with its method, its pattern for http.ServeMux and its
// handler.
func (h *Handler) Mount(mount func(method, pattern string, handler http.Handler)) {
	for _, c := range []struct {
		method, pattern string
		answer          func(*call) error
		// signedIn: only a person who is signed in may call.
		signedIn bool
	}{
		{"GET", "/auth/options", h.options, false},
		{"POST", "/auth/link", h.useLink, false},
		{"POST", "/auth/logout", h.signOut, false},
		{"GET", "/auth/login", h.begin, false},
		{"GET", "/auth/callback", h.finish, false},
		{"POST", "/auth/passkey/options", h.beginPasskey, false},
		{"POST", "/auth/passkey", h.usePasskey, false},
		{"GET", "/auth/sessions", h.sessions, true},
		{"DELETE", "/auth/sessions/{id}", h.endSession, true},
		{"GET", "/auth/passkeys", h.listPasskeys, true},
		{"POST", "/auth/passkeys/options", h.beginRegistration, true},
		{"POST", "/auth/passkeys", h.register, true},
		{"DELETE", "/auth/passkeys/{id}", h.removePasskey, true},
	} {
		mount(c.method, c.pattern, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.serve(w, r, c.method+" "+c.pattern, c.signedIn, c.answer)
		}))
	}
}

// callTimeout bounds a call when the database or the issuer does not answer.
const callTimeout = 20 * time.Second

// call is one call on its way.
type call struct {
	ctx context.Context
	w   http.ResponseWriter
	r   *http.Request
	// id is that of the request.
	id string
	// actor is who is signed in, nil where nobody needs to be.
	actor *actor.Actor
}

// serve answers a call. One that nobody needs to be signed in for counts for its address, and
// one with effects must come from a page of ours.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, name string, signedIn bool, answer func(*call) error) {
	ctx, cancel := context.WithTimeout(r.Context(), callTimeout)
	defer cancel()
	c := &call{ctx: ctx, w: w, r: r.WithContext(ctx), id: op.RequestID(ctx)}
	var standings []ratelimit.Standing
	var err error
	if signedIn {
		c.actor, standings, err = h.Service.Person(c.r, name)
	} else {
		standings, err = h.Service.CountAddress(c.r)
		if err == nil && r.Method == http.MethodPost && !h.site.Own(r) {
			err = fault.New(fault.InsufficientPermission, "This is for the dashboard's own pages, at %s (see --api-url).",
				h.site.Origin)
		}
	}
	op.RateHeaders(w.Header(), standings)
	if err == nil {
		err = answer(c)
	}
	if err != nil {
		h.refuse(c, name, signedIn, err)
	}
}

// refuse answers an error: a fault as it is, anything else as an internal one. The cause of a
// refused sign-in goes to the log alone.
func (h *Handler) refuse(c *call, name string, signedIn bool, err error) {
	refusal, ok := fault.From(err)
	if !ok && h.Service.DB.IsAway(err) {
		refusal = fault.New(fault.Unavailable, "A part of the service is unavailable. Try again.")
	}
	if refusal.Code == fault.Unavailable && refusal.RetryAfter == 0 {
		refusal.RetryAfter = 5
	}
	// The pipeline has logged who could not be authenticated.
	if c.actor != nil || !signedIn {
		h.note(c, name, err)
	}
	h.Service.WriteError(c.w, c.id, refusal)
}

// note logs why a call was refused, or that it failed.
func (h *Handler) note(c *call, name string, err error) {
	refusal, ok := fault.From(err)
	level, message := slog.LevelError, "call failed"
	switch {
	case c.r.Context().Err() != nil && errors.Is(c.r.Context().Err(), context.Canceled): // its client left
		level = slog.LevelDebug
	case ok && refusal.Code == fault.Unauthenticated:
		level, message = slog.LevelInfo, "call refused"
	case ok && refusal.Code != fault.Unavailable:
		return
	}
	h.Log.Log(c.ctx, level, message, "operation", name, "request_id", c.id, "cause", err)
}

// answer writes data in the envelope of the API.
func (c *call) answer(status int, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	op.WriteData(c.w, c.id, status, text)
	return nil
}

// done answers that something was done.
func (c *call) done() error {
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// session returns the digest of the secret with which the browser calls, "" where it brings none.
func (h *Handler) session(c *call) string {
	if secret := h.site.Session(c.r); secret != "" {
		return actor.Digest(secret)
	}
	return ""
}

// enter has the browser keep the secret of a new session. One that it had before, by the digest
// of its secret, is over.
func (h *Handler) enter(c *call, secret, before string) error {
	if err := actor.SignOut(c.ctx, h.db(), before); err != nil {
		return err
	}
	h.site.SetSession(c.w, secret, actor.BrowserLifetime)
	return nil
}

// browser is what the browser that calls is called in lists.
func (h *Handler) browser(c *call) string {
	agent := h.agents.Of(c.r).Agent
	switch {
	case agent.Browser == "":
		return "Browser"
	case agent.OS == "":
		return agent.Browser
	}
	return agent.Browser + " on " + agent.OS
}

func (h *Handler) db() *store.DB { return h.Service.DB }
