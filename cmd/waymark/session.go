package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/signin"
	"github.com/waymarkhq/waymark/internal/store"
)

type sessionCommand struct {
	Issue  sessionIssueCommand  `cmd:"" help:"Print a bearer token for an owner, or with --link an address that signs in a browser; with --email, creating a local owner if new."`
	List   sessionListCommand   `cmd:"" help:"List the sessions of tokens and browsers that can be used, without their secrets."`
	Revoke sessionRevokeCommand `cmd:"" help:"End a session, or all of an owner, before they expire."`
}

type sessionIssueCommand struct {
	storage
	Email string `xor:"owner" required:"" help:"E-mail address of a local owner." placeholder:"EMAIL"`
	User  string `xor:"owner" required:"" help:"Id of any owner, as waymark users list shows it." placeholder:"ID"`
	Link  bool   `help:"Print an address of the dashboard that signs in a browser, once and within ten minutes."`
	dashboard
}

// apiPort is the port of --api-addr unless that is set.
const apiPort = "8080"

// Run prints just the token or the address, for scripts. It works beside a running server,
// whether or not that has an OpenID Connect issuer.
func (c *sessionIssueCommand) Run(ctx context.Context) error {
	if err := c.dashboard.check(); err != nil {
		return err
	}
	return c.with(ctx, func(db *store.DB) error {
		if c.Link {
			return c.issueLink(ctx, db)
		}
		issue, owner := actor.IssueSession, c.Email
		if c.User != "" {
			issue, owner = actor.IssueSessionFor, c.User
		}
		token, err := issue(ctx, db, c.DataDir, owner)
		if err != nil {
			return err
		}
		_, err = fmt.Println(token)
		return err
	})
}

func (c *sessionIssueCommand) issueLink(ctx context.Context, db *store.DB) error {
	issue, owner := actor.IssueLink, c.Email
	if c.User != "" {
		issue, owner = actor.IssueLinkFor, c.User
	}
	code, err := issue(ctx, db, owner)
	if err != nil {
		return err
	}
	_, err = fmt.Println(signInAt(c.site(apiPort), code))
	return err
}

type sessionListCommand struct {
	storage
	Email string `help:"Only those of the owners with this e-mail address." placeholder:"EMAIL"`
}

// Run prints one line a session, those that last longest first.
func (c *sessionListCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(db *store.DB) error {
		sessions, err := actor.Sessions(ctx, db, c.Email, maxListed+1)
		if err != nil {
			return err
		}
		return list(sessions, "ID\tOWNER\tE-MAIL\tISSUER\tISSUED\tVALID UNTIL\tBROWSER", func(s actor.KnownSession) []string {
			return []string{s.ID, s.OwnerID, s.Email, s.Issuer, s.IssuedAt.String(), s.ExpiresAt.String(), s.Name}
		})
	})
}

type sessionRevokeCommand struct {
	storage
	Session  string `required:"" help:"The session's token, its sid (else jti) claim, the cookie of its browser or its id in waymark session list; or an e-mail address, for all sessions of that owner." placeholder:"SESSION"`
	Passkeys bool   `help:"With an e-mail address: remove the passkeys of that owner, too, which would sign in again."`
}

// Run ends sessions: their next request gets 401. It fails when there was none
// to end.
func (c *sessionRevokeCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(db *store.DB) error {
		var passkeys int64
		if c.Passkeys {
			var err error
			if passkeys, err = signin.RemovePasskeys(ctx, db, c.Session); err != nil {
				return err
			}
			if _, err := fmt.Printf("removed %d passkeys\n", passkeys); err != nil {
				return err
			}
		}
		ended, err := actor.EndSessions(ctx, db, c.Session)
		if err != nil && passkeys == 0 {
			return err
		}
		for _, s := range ended {
			if _, err := fmt.Printf("ended session %s of owner %s (%s), issued %s by %s\n", s.ID, s.OwnerID,
				cmp.Or(s.Email, "no e-mail address"), s.IssuedAt, s.Issuer); err != nil {
				return err
			}
		}
		return nil
	})
}
