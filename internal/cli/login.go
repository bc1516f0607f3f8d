package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/waymarkhq/waymark/client"
)

type loginCommand struct {
	Server string `arg:"" help:"Address of the server's API listener." placeholder:"URL"`
	Name   string `default:"default" help:"Name of the context; default: ${default}." placeholder:"NAME"`
	App    string `help:"App that commands concern; default: the app that the credential reaches, if it is one." placeholder:"ID"`
	Domain string `help:"Domain of new links; default: the default domain of the app, or its only one." placeholder:"HOSTNAME"`
}

// Run reads a credential from WAYMARK_TOKEN, the terminal or the standard input, tries it, and keeps it.
func (c *loginCommand) Run(ctx context.Context) error {
	all, err := loadContexts()
	if err != nil {
		return err
	}
	p := place{Server: strings.TrimRight(c.Server, "/"), App: c.App, Domain: c.Domain}
	api, err := newClient(p)
	if err != nil {
		return err
	}
	if !private(p.Server) {
		tell("%s is not encrypted: whoever is on the way reads the credential; use https", p.Server)
	}
	if p.Token, err = readToken(ctx); err != nil {
		return err
	}
	api.Token = p.Token
	who, err := whoami(ctx, api)
	if err != nil {
		return fmt.Errorf("sign in at %s: %w", p.Server, err)
	}
	if err := p.complete(ctx, api); err != nil {
		return fmt.Errorf("sign in at %s: %w", p.Server, err)
	}
	all.Contexts[c.Name], all.Current = p, c.Name
	if err := all.save(); err != nil {
		return err
	}
	tell("signed in at %s as %s; the context %s is kept in %s", p.Server, who, c.Name, all.file)
	for _, missing := range []struct{ value, what, flag string }{
		{p.App, "app", "--app ID"}, {p.Domain, "domain", "--domain HOSTNAME"},
	} {
		if missing.value == "" {
			tell("it has no %s yet: waymark context set %s", missing.what, missing.flag)
		}
	}
	return nil
}

// private reports whether nobody on the way reads what is sent.
func private(server string) bool {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "https" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// maxToken bounds a credential, in bytes.
const maxToken = 16 << 10

// readToken returns the credential of the environment, or one that is typed or piped.
func readToken(ctx context.Context) (token string, err error) {
	if token = os.Getenv(tokenVariable); token != "" {
		return token, nil
	}
	read := pipedToken
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		state, err := term.GetState(fd)
		if err != nil {
			return "", fmt.Errorf("read the credential: %w", err)
		}
		defer term.Restore(fd, state) // also after an interrupt, or what is typed next would not be shown
		read = typedToken
	}
	if token, err = untilInterrupted(ctx, read); err != nil {
		return "", fmt.Errorf("read the credential: %w", err)
	}
	if token = strings.TrimSpace(token); token == "" {
		return "", usage("no credential was given: an API key of the dashboard, or what waymark session issue prints")
	}
	return token, nil
}

func typedToken() (string, error) {
	fmt.Fprint(os.Stderr, "API key or session token (it is not shown): ")
	typed, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(os.Stderr)
	return string(typed), err
}

func pipedToken() (string, error) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, maxToken)
	lines.Scan()
	return lines.Text(), lines.Err()
}

// untilInterrupted returns what a function reads from a person. The read itself cannot be stopped, so it is
// left behind when the command is interrupted: the command ends then.
func untilInterrupted(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr) // after the question
		return "", interrupted("interrupted")
	}
}

// whoami returns whom the credential is for. An API key need not be allowed to ask.
func whoami(ctx context.Context, api *client.Client) (string, error) {
	var me struct {
		ID    string  `json:"id"`
		Email *string `json:"email"`
	}
	err := api.Get(ctx, "/me", nil, &me)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == 403 {
		return "an API key", nil
	}
	if me.Email != nil {
		return *me.Email, err
	}
	return me.ID, err
}

// complete fills in the app and the domain where the credential leaves no choice.
func (p *place) complete(ctx context.Context, api *client.Client) error {
	type app struct {
		ID            string  `json:"id"`
		DefaultDomain *string `json:"defaultDomain"`
	}
	if p.App == "" {
		var apps []app
		if err := api.Get(ctx, "/apps", url.Values{"limit": {"2"}}, &apps); err != nil || len(apps) != 1 {
			return ignoreRefusal(err)
		}
		p.App = apps[0].ID
	}
	if p.Domain != "" {
		return nil
	}
	var found app
	if err := api.Get(ctx, client.Path("/apps/{appId}", p.App), nil, &found); err != nil {
		return ignoreRefusal(p.named(err))
	}
	if found.DefaultDomain != nil {
		p.Domain = *found.DefaultDomain
		return nil
	}
	var domains []struct{ Hostname string }
	err := api.Get(ctx, "/domains", url.Values{"appId": {p.App}, "limit": {"2"}}, &domains)
	if err == nil && len(domains) == 1 {
		p.Domain = domains[0].Hostname
	}
	return ignoreRefusal(err)
}

// ignoreRefusal drops a refusal of what a credential need not be allowed to do.
func ignoreRefusal(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == 403 {
		return nil
	}
	return err
}
