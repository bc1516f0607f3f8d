package main

import (
	"context"
	"fmt"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/store"
)

type sessionCommand struct {
	Issue  sessionIssueCommand  `cmd:"" help:"Print a bearer token for an owner, creating the owner if new."`
	Revoke sessionRevokeCommand `cmd:"" help:"End a session before it expires."`
}

type sessionIssueCommand struct {
	storage
	Email string `required:"" help:"E-mail address of the owner." placeholder:"EMAIL"`
}

// Run prints just the token, for scripts. It works beside a running server.
func (c *sessionIssueCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(db *store.DB) error {
		token, err := actor.IssueSession(ctx, db, c.DataDir, c.Email)
		if err != nil {
			return err
		}
		_, err = fmt.Println(token)
		return err
	})
}

type sessionRevokeCommand struct {
	storage
	Issuer  string `default:"urn:waymark:local" help:"Issuer of the session." placeholder:"URL"`
	Session string `required:"" help:"The sid (else jti) claim of the session's token." placeholder:"ID"`
}

// Run ends the session: its next request gets 401.
func (c *sessionRevokeCommand) Run(ctx context.Context) error {
	if err := c.existing(); err != nil {
		return err
	}
	return c.with(ctx, func(db *store.DB) error {
		if err := actor.RevokeSession(ctx, db, c.Issuer, c.Session); err != nil {
			return err
		}
		_, err := fmt.Println("ended session", c.Session, "of", c.Issuer)
		return err
	})
}
