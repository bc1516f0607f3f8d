package main

import (
	"errors"

	"github.com/waymarkhq/waymark/internal/actor"
)

// oidc are the flags for the sessions of an OpenID Connect issuer.
type oidc struct {
	OIDCIssuer        string `name:"oidc-issuer" help:"OpenID Connect issuer of human sessions; sessions of waymark session issue are accepted too." placeholder:"URL"`
	OIDCAudience      string `name:"oidc-audience" help:"Audience that its tokens must name." placeholder:"NAME"`
	AuthAutoProvision bool   `help:"Create the owner when a session of the OpenID Connect issuer is first seen; without it, add owners with waymark users add."`
}

func (o *oidc) check() error {
	if (o.OIDCIssuer == "") != (o.OIDCAudience == "") {
		return errors.New("--oidc-issuer and --oidc-audience go together")
	}
	return checkURL("--oidc-issuer", o.OIDCIssuer)
}

// issuer returns the issuer that the flags name, nil without one.
func (o *oidc) issuer() *actor.Issuer {
	if o.OIDCIssuer == "" {
		return nil
	}
	return actor.RemoteIssuer(o.OIDCIssuer, o.OIDCAudience, o.AuthAutoProvision)
}
