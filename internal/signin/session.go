package signin

import (
	"cmp"
	"errors"
	"net/url"
	"strings"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
)

// options are what the page where people sign in offers.
type options struct {
	// OIDC tells that there is an issuer, and Issuer is its hostname.
	OIDC     bool   `json:"oidc"`
	Issuer   string `json:"issuer"`
	Passkeys bool   `json:"passkeys"`
	SignedIn bool   `json:"signedIn"`
}

func (h *Handler) options(c *call) error {
	o := options{Passkeys: h.passkeys != nil}
	if h.Issuer != nil {
		o.OIDC = true
		if u, err := url.Parse(h.Issuer.URL); err == nil {
			o.Issuer = cmp.Or(u.Hostname(), h.Issuer.URL)
		}
	}
	if secret := h.site.Session(c.r); secret != "" {
		_, err := h.Service.Auth.Browser(c.ctx, secret, h.site.Own(c.r))
		if refusal, ok := fault.From(err); err != nil && (!ok || refusal.Code != fault.Unauthenticated) {
			return err
		}
		o.SignedIn = err == nil
	}
	return c.answer(200, o)
}

// linkBody is the body of a call that uses an address that signs in.
type linkBody struct {
	Code string `json:"code" maxLength:"100"`
}

func (h *Handler) useLink(c *call) error {
	body, err := h.readLink(c.w, c.r)
	if err != nil {
		return err
	}
	secret, err := actor.UseLink(c.ctx, h.db(), body.Code, h.browser(c))
	if err == nil {
		err = h.enter(c, secret, h.session(c))
	}
	if err != nil {
		return err
	}
	return c.done()
}

func (h *Handler) signOut(c *call) error {
	if err := actor.SignOut(c.ctx, h.db(), h.session(c)); err != nil {
		return err
	}
	h.site.SetSession(c.w, "", 0)
	return c.done()
}

// session is a session as its owner sees it.
type session struct {
	ID        string         `json:"id"`
	Kind      string         `json:"kind"` // browser or token
	Name      string         `json:"name"`
	CreatedAt clock.Instant  `json:"createdAt"`
	UsedAt    *clock.Instant `json:"usedAt"`
	ExpiresAt clock.Instant  `json:"expiresAt"`
	Current   bool           `json:"current"`
}

// listed is how many sessions are listed: as many as an owner has.
const listed = 1000

func (h *Handler) sessions(c *call) error {
	known, err := actor.SessionsOf(c.ctx, h.db(), c.actor.OwnerID, listed)
	if err != nil {
		return err
	}
	all := make([]session, len(known))
	for i, k := range known {
		all[i] = session{ID: k.ID, Kind: "token", Name: "Token", CreatedAt: k.IssuedAt, UsedAt: k.UsedAt, ExpiresAt: k.ExpiresAt,
			Current: strings.HasSuffix(c.actor.Credential, ":"+k.ID)}
		if k.Browser {
			all[i].Kind, all[i].Name = "browser", cmp.Or(k.Name, "Browser")
		}
	}
	return c.answer(200, all)
}

func (h *Handler) endSession(c *call) error {
	err := actor.EndSessionOf(c.ctx, h.db(), c.actor.OwnerID, c.r.PathValue("id"))
	if errors.Is(err, store.ErrNotFound) {
		return fault.Missing()
	}
	if err != nil {
		return err
	}
	return c.done()
}
