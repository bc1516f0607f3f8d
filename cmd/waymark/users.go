package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/waymarkhq/waymark/internal/actor"
	"github.com/waymarkhq/waymark/internal/store"
)

type usersCommand struct {
	Add     usersAddCommand     `cmd:"" help:"Add an owner before the first session."`
	List    usersListCommand    `cmd:"" help:"List owners and invitations."`
	Disable usersDisableCommand `cmd:"" help:"Refuse all sessions and keys of an owner, or withdraw an invitation."`
	Enable  usersEnableCommand  `cmd:"" help:"Accept the sessions and keys of a disabled owner again."`
}

type usersAddCommand struct {
	storage
	Email      string `required:"" help:"E-mail address of the owner." placeholder:"EMAIL"`
	OIDCIssuer string `name:"oidc-issuer" help:"OpenID Connect issuer of the owner's sessions; leave it out for sessions of waymark session issue." placeholder:"URL"`
	Subject    string `help:"The owner's subject (sub) there; without it, the first token with the e-mail address as a verified one tells it." placeholder:"SUB"`
}

// Run adds an owner, or an invitation where the subject is not known yet.
func (c *usersAddCommand) Run(ctx context.Context) error {
	if c.Subject != "" && c.OIDCIssuer == "" {
		return fmt.Errorf("--subject needs --oidc-issuer")
	}
	return c.with(ctx, func(db *store.DB) error {
		o, err := actor.AddOwner(ctx, db, actor.Owner{Email: c.Email, Issuer: c.OIDCIssuer, Subject: c.Subject})
		if err != nil {
			return err
		}
		if o.Invited() {
			_, err = fmt.Printf("invited %s: the first token of %s with this verified e-mail address makes its "+
				"subject an owner\n", o.Email, o.Issuer)
		} else {
			_, err = fmt.Printf("added owner %s (%s) of %s\n", o.ID, o.Email, o.Issuer)
		}
		return err
	})
}

type usersListCommand struct {
	storage
	Email string `help:"Only those with this e-mail address." placeholder:"EMAIL"`
}

// Run prints one line an owner, the newest first.
func (c *usersListCommand) Run(ctx context.Context) error {
	return c.with(ctx, func(db *store.DB) error {
		owners, err := actor.Owners(ctx, db, c.Email, maxListed+1)
		if err != nil {
			return err
		}
		return list(owners, "ID\tSTATUS\tE-MAIL\tNAME\tISSUER\tSUBJECT\tSINCE", func(o actor.Owner) []string {
			status := "active"
			switch {
			case o.Invited():
				status = "invited"
			case !o.Active:
				status = "disabled"
			}
			return []string{o.ID, status, o.Email, o.Name, o.Issuer, o.Subject, o.Since.String()}
		})
	})
}

type usersDisableCommand struct {
	storage
	User string `arg:"" help:"Id or e-mail address of the owner."`
}

// Run disables an owner. What the owner made stays.
func (c *usersDisableCommand) Run(ctx context.Context) error {
	return c.setActive(ctx, c.User, false, "disabled owner %s (%s): their sessions and keys are refused from now on, "+
		"their links go on\n")
}

type usersEnableCommand struct {
	storage
	User string `arg:"" help:"Id or e-mail address of the owner."`
}

// Run enables an owner.
func (c *usersEnableCommand) Run(ctx context.Context) error {
	return c.setActive(ctx, c.User, true, "enabled owner %s (%s): their sessions and keys that have not ended are "+
		"accepted again\n")
}

// setActive disables or enables an owner and tells so, with the id and the
// e-mail address in done.
func (s *storage) setActive(ctx context.Context, user string, active bool, done string) error {
	if err := s.existing(); err != nil {
		return err
	}
	return s.with(ctx, func(db *store.DB) error {
		o, err := actor.SetActive(ctx, db, user, active)
		if err != nil {
			return err
		}
		if o.Invited() {
			_, err = fmt.Printf("withdrew the invitation of %s\n", o.Email)
		} else {
			_, err = fmt.Printf(done, o.ID, cmp.Or(o.Email, "no e-mail address"))
		}
		return err
	})
}

// maxListed bounds a list on the command line.
const maxListed = 1000

// list prints rows as a table; of more than maxListed, the first of them.
func list[T any](rows []T, titles string, columns func(T) []string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, titles)
	for _, row := range rows[:min(len(rows), maxListed)] {
		cells := columns(row)
		for i, cell := range cells {
			if cell == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	if len(rows) > maxListed {
		fmt.Fprintf(w, "There are more than these %d: name one with --email.\n", maxListed)
	}
	return w.Flush()
}
