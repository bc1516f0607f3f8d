package main

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/waymarkhq/waymark/internal/actor"
)

// oidc are the flags for the sessions of an OpenID Connect issuer.
type oidc struct {
	OIDCIssuer           string   `name:"oidc-issuer" help:"OpenID Connect issuer of human sessions; sessions of waymark session issue are accepted too." placeholder:"URL"`
	OIDCAudience         string   `name:"oidc-audience" help:"Audience that its tokens must name; the client id of the dashboard there." placeholder:"NAME"`
	OIDCClientSecretFile string   `name:"oidc-client-secret-file" help:"File with the client secret of the dashboard, one line; none for a public client." placeholder:"FILE"`
	OIDCAllow            []string `name:"oidc-allow" help:"Who may sign in to the dashboard through the issuer, and becomes an owner: email_domain=DOMAIN, group=NAME or email=EMAIL; any one suffices." placeholder:"RULE"`
	AuthAutoProvision    bool     `help:"Create the owner when a session of the OpenID Connect issuer is first seen; without it, add owners with waymark users add."`

	rules []actor.Rule
}

func (o *oidc) check() error {
	if (o.OIDCIssuer == "") != (o.OIDCAudience == "") {
		return errors.New("--oidc-issuer and --oidc-audience go together")
	}
	if o.OIDCIssuer == "" && (o.OIDCClientSecretFile != "" || len(o.OIDCAllow) > 0) {
		return errors.New("--oidc-client-secret-file and --oidc-allow need --oidc-issuer")
	}
	if o.AuthAutoProvision && len(o.OIDCAllow) > 0 {
		return errors.New("--auth-auto-provision lets in everybody whom the issuer knows: leave it out with --oidc-allow")
	}
	o.rules = nil
	for _, text := range o.OIDCAllow {
		rule, err := actor.ParseRule(text)
		if err != nil {
			return fmt.Errorf("--oidc-allow: %w", err)
		}
		o.rules = append(o.rules, rule)
	}
	return checkURL("--oidc-issuer", o.OIDCIssuer)
}

// issuer returns the issuer that the flags name, nil without one.
func (o *oidc) issuer(log *slog.Logger) (_ *actor.Issuer, err error) {
	if o.OIDCIssuer == "" {
		return nil, nil
	}
	issuer := actor.RemoteIssuer(o.OIDCIssuer, o.OIDCAudience, o.AuthAutoProvision)
	issuer.Allow = o.rules
	if o.OIDCClientSecretFile != "" {
		issuer.Secret, err = secret(log, "--oidc-client-secret-file", o.OIDCClientSecretFile)
	}
	return issuer, err
}
