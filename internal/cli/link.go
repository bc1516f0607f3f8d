package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/waymarkhq/waymark/api"
	"github.com/waymarkhq/waymark/client"
)

type linkCommand struct {
	Add     linkAddCommand     `cmd:"" help:"Shorten a URL; prints the address of the new link."`
	List    linkListCommand    `cmd:"" help:"List links, the newest first."`
	Show    linkShowCommand    `cmd:"" help:"Show a link."`
	Archive linkArchiveCommand `cmd:"" help:"Archive links: they lead nowhere any more, and can be restored."`
	Restore linkRestoreCommand `cmd:"" help:"Restore links that were archived."`
}

// link is what these commands use of a link.
type link struct {
	ID       string `json:"id"`
	URL      string `json:"url"`
	Slug     string `json:"slug"`
	Prefix   string `json:"prefix"`
	Domain   string `json:"domain"`
	Revision string `json:"revision"`
}

type linkAddCommand struct {
	URL string `arg:"" name:"url" help:"Where the link leads: an https address."`
	ofApp
	Domain  string `env:"WAYMARK_DOMAIN" help:"Domain of the link; default: the domain of the context, or the default domain of the app." placeholder:"HOSTNAME"`
	Slug    string `help:"Last part of the address; default: seven random letters and digits." placeholder:"TEXT"`
	Prefix  string `help:"Part of the address before the slug." placeholder:"TEXT"`
	Title   string `help:"Title of the link." placeholder:"TEXT"`
	WebOnly bool   `help:"Keep phones that have the app in the browser."`
	Expires string `help:"When the link ends, such as 2027-01-31T12:00:00Z." placeholder:"TIME"`
}

// slugTries is how many slugs are made before the addresses of a domain count as used up.
const slugTries = 5

// Run prints just the address, for scripts.
func (l *linkAddCommand) Run(ctx context.Context) error {
	c, p, err := l.open()
	if err != nil {
		return err
	}
	domain, err := l.domain(ctx, c, p)
	if err != nil {
		return err
	}
	body := map[string]any{"appId": p.App, "domain": domain, "slug": l.Slug, "desktopUrl": l.URL}
	if l.Prefix != "" {
		body["prefix"] = l.Prefix
	}
	if l.Title != "" {
		body["title"] = l.Title
	}
	if l.WebOnly {
		body["webOnly"] = true
	}
	if l.Expires != "" {
		body["lifecycle"] = map[string]any{"expiresAt": l.Expires}
	}
	for range slugTries {
		if l.Slug == "" {
			body["slug"] = newSlug()
		}
		var a *client.Answer
		if a, err = c.Do(ctx, client.Request{Method: http.MethodPost, Path: "/links", Body: body}); err == nil {
			var made link
			if err := a.Data(&made); err != nil {
				return err
			}
			_, err := fmt.Fprintln(stdout, made.URL)
			return err
		}
		if l.Slug != "" || !refusedWith(err, "resource_conflict") { // taken
			break
		}
	}
	if client.RepeatKey(err) != "" {
		err = fmt.Errorf("%w; whether the link was made is not known: waymark link show %s tells", err,
			strings.Join(filled(domain, l.Prefix, fmt.Sprint(body["slug"])), "/"))
	}
	return fmt.Errorf("add a link to %q: %w", cut(l.URL, 80), err)
}

// cut returns the beginning of a text that is longer than a message should be.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// domain returns the domain of the new link.
func (l *linkAddCommand) domain(ctx context.Context, c *client.Client, p place) (string, error) {
	switch {
	case l.Domain != "":
		return l.Domain, nil
	case p.Domain != "" && l.App == "":
		return p.Domain, nil
	}
	var app struct{ DefaultDomain *string }
	if err := c.Get(ctx, client.Path("/apps/{appId}", p.App), nil, &app); err != nil {
		return "", fmt.Errorf("read the default domain of the app: %w", err)
	}
	if app.DefaultDomain == nil {
		return "", usage("the app has no default domain: give --domain, or run waymark context set --domain HOSTNAME")
	}
	return *app.DefaultDomain, nil
}

// slugLetters are those that nobody confuses when they are read aloud or typed.
const slugLetters = "abcdefghijkmnpqrstuvwxyz23456789"

// newSlug returns seven of them: 34 thousand million slugs.
func newSlug() string {
	b := make([]byte, 7)
	rand.Read(b)
	for i := range b {
		b[i] = slugLetters[int(b[i])%len(slugLetters)]
	}
	return string(b)
}

type linkListCommand struct {
	ofApp
	shape
	Search string `short:"q" help:"Text in the title, the description or the slug." placeholder:"TEXT"`
	Domain string `help:"Only links of this domain." placeholder:"HOSTNAME"`
	State  string `enum:"active,scheduled,expired,archived," default:"" help:"Only links in this state: active, scheduled, expired or archived." placeholder:"STATE"`
	All    bool   `help:"List all links instead of the newest."`
	Limit  int    `default:"50" help:"How many links to list; default: ${default}." placeholder:"NUMBER"`
}

// pageSize is the most rows that a page of a list has.
const pageSize = 100

func (l *linkListCommand) Run(ctx context.Context) error {
	c, p, err := l.open()
	if err != nil {
		return err
	}
	if l.Limit < 1 {
		return usage("--limit is at least 1")
	}
	size := min(l.Limit, pageSize)
	if l.All {
		size = pageSize
	}
	query := url.Values{"appId": {p.App}, "limit": {fmt.Sprint(size)}}
	for name, value := range map[string]string{"q": l.Search, "domain": l.Domain, "state": l.State} {
		if value != "" {
			query.Set(name, value)
		}
	}
	some := []string{"url", "desktopUrl", "title", "state", "createdAt"}
	_, every := columnsOf(linkSchema())
	w, err := l.writer(stdout, some, every)
	if err != nil {
		return err
	}
	return w.end(p.named(each(ctx, c, linksOf(query), func(row json.RawMessage) (bool, error) {
		err := w.row(row)
		return l.All || w.rows < l.Limit, err
	})))
}

// linksOf is the request of a list of links.
func linksOf(query url.Values) client.Request {
	return client.Request{Method: http.MethodGet, Path: "/links", Query: query}
}

// linkSchema is the schema of a link in the contract.
func linkSchema() *api.Schema {
	o, err := findOperation("getLinksLinkId")
	if err != nil {
		panic(err) // the contract is part of this program
	}
	return o.Data
}

type linkShowCommand struct {
	Link string `arg:"" help:"Address or id of the link."`
	ofApp
	shape
}

func (l *linkShowCommand) Run(ctx context.Context) error {
	c, p, err := l.target.open()
	if err != nil {
		return err
	}
	id, err := findLink(ctx, c, l.App, p, l.Link)
	if err != nil {
		return err
	}
	var shown json.RawMessage
	if err := c.Get(ctx, client.Path("/links/{linkId}", id), nil, &shown); err != nil {
		return err
	}
	return l.value(linkSchema(), shown)
}

type linkArchiveCommand struct {
	Links []string `arg:"" name:"link" help:"Addresses or ids of links."`
	ofApp
}

func (l *linkArchiveCommand) Run(ctx context.Context) error {
	return setArchived(ctx, &l.ofApp, l.Links, true)
}

type linkRestoreCommand linkArchiveCommand

func (l *linkRestoreCommand) Run(ctx context.Context) error {
	return setArchived(ctx, &l.ofApp, l.Links, false)
}

// setArchived archives or restores links, and says which.
func setArchived(ctx context.Context, of *ofApp, links []string, archived bool) error {
	c, p, err := of.target.open()
	if err != nil {
		return err
	}
	done := map[bool]string{true: "archived", false: "restored"}[archived]
	ids := make([]string, len(links)) // all are found before one is changed: one may be misspelt
	for i, address := range links {
		if ids[i], err = findLink(ctx, c, of.App, p, address); err != nil {
			return fmt.Errorf("no link was %s: %w", done, err)
		}
	}
	for i, address := range links {
		path := client.Path("/links/{linkId}", ids[i])
		a, err := c.Do(ctx, client.Request{Method: http.MethodGet, Path: path})
		if err != nil {
			return err
		}
		a, err = c.Do(ctx, client.Request{Method: http.MethodPatch, Path: path, Revision: a.Revision(),
			Body: map[string]any{"lifecycle": map[string]any{"archived": archived}}})
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		var changed link
		if err := a.Data(&changed); err != nil {
			return err
		}
		fmt.Fprintln(stdout, done, changed.URL)
	}
	return nil
}

var linkID = regexp.MustCompile(`^[^/]+:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// findLink returns the id of the link with an address, which may leave out https:// and the domain:
// then it is that of the context, or of the only link with the rest of the address. An id stays.
func findLink(ctx context.Context, c *client.Client, app string, p place, address string) (string, error) {
	if linkID.MatchString(address) {
		return address, nil
	}
	if app == "" {
		app = p.App
	}
	if app == "" {
		return "", usage("which app is not known: give --app, or the id of the link")
	}
	domain, path := p.Domain, strings.Trim(address, "/")
	if app != p.App { // the domain of the context is one of its own app
		domain = ""
	}
	if _, rest, found := strings.Cut(address, "://"); found {
		path = rest
	}
	path, _, _ = strings.Cut(path, "?")
	if host, rest, found := strings.Cut(path, "/"); found && strings.ContainsAny(host, ".:") {
		domain, path = host, rest
	}
	domain, _, _ = strings.Cut(domain, ":")
	prefix, slug, two := strings.Cut(strings.Trim(path, "/"), "/")
	if !two {
		prefix, slug = "", prefix
	}
	query := url.Values{"appId": {app}, "q": {slug}, "limit": {fmt.Sprint(pageSize)}}
	if domain != "" {
		query.Set("domain", domain)
	}
	var found []link
	err := each(ctx, c, linksOf(query), func(row json.RawMessage) (bool, error) {
		var l link
		err := json.Unmarshal(row, &l)
		if l.Slug == slug && l.Prefix == prefix {
			found = append(found, l)
		}
		return len(found) == 0 || domain == "" && len(found) == 1, err
	})
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", &client.Error{Status: http.StatusNotFound, Code: "not_found", Message: "The app has no link " + address + "."}
	case len(found) > 1:
		return "", usage(fmt.Sprintf("%s can be %s or %s: give one of these addresses", address, found[0].URL, found[1].URL))
	}
	return found[0].ID, nil
}
