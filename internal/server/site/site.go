// Package site makes the documentation that a process serves below /docs/ of the Markdown
// pages in the folder docs: one layout, and a navigation through all of them. Pages need no
// script, and load nothing but a stylesheet and pictures of their own host.
package site

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"path"

	"github.com/waymarkhq/waymark/docs"
)

const (
	// Root is where the site begins: the address of its index.
	Root = "/docs/"
	// Reference is where the API reference is, and Errors the page about codes of errors. Others
	// make them; the navigation leads there.
	Reference = Root + "reference"
	Errors    = Root + "api/errors/"
)

// StyleSheet is the stylesheet of all pages.
//
//go:embed site.css
var StyleSheet []byte

// StylePath is its address, which names this version of it.
var StylePath = Root + "site-" + digest(StyleSheet) + ".css"

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// group is a part of the navigation.
type group struct {
	Name    string
	Entries []entry
}

// entry is a page in the navigation.
type entry struct {
	Address, Label, Summary string
}

// File returns the name of the Markdown that an entry is made of, "" for what is made
// elsewhere.
func (e entry) file() string {
	if e.Address == Reference || e.Address == Errors {
		return ""
	}
	return path.Base(e.Address) + ".md"
}

func (e entry) is(address string) bool { return e.Address == address }

func of(name, label, summary string) entry { return entry{Root + name, label, summary} }

// groups are the navigation, in its order. Each page of the folder docs stands in it.
var groups = []group{
	{"Start", []entry{
		of("start", "First steps", "From nothing to a link that is followed and counted."),
		of("install", "Install", "Packages, archives, checksums, and the service of systemd."),
		of("concepts", "Concepts", "The words that everything else uses, on one page."),
		of("dashboard", "Dashboard", "Sign in, and what the screens have."),
		of("own-domain", "Your own domain", "From a server without TLS to links on your hostname."),
		of("comparison", "Comparison", "Other products, and what they do better."),
	}},
	{"Guides", []entry{
		of("recipes", "Recipes", "Short answers with commands: campaigns, schedules, moves, nightly exports."),
		of("links", "What a link does", "How it is decided what a visitor gets."),
		of("domains", "Domains", "Bring a hostname, verify it, give it back."),
		of("domain-settings", "Domain settings", "What a hostname serves besides links."),
		of("templates", "Page templates", "Design the pages that open an app."),
		of("app-sdk", "Links that open your app", "How an app receives its links, also right after its installation."),
		of("analytics", "Analytics", "What each number means."),
		of("clients", "Clients", "The API from TypeScript and Go: calls, lists, retries, webhooks."),
		of("cli", "From a terminal", "Links, imports, exports and any operation, by commands."),
		of("automation", "Batches and exports", "Many links in one call, and operations that take time."),
		of("importing", "Importing", "Come from Bitly, Short.io, Rebrandly, Shlink, Kutt, YOURLS or Firebase Dynamic Links."),
		of("webhooks", "Webhooks", "Receive signed events."),
	}},
	{"Reference", []entry{
		{Reference, "API", "Every operation with its schemas and examples."},
		{Errors, "Errors of the API", "Every code of a refusal, and what to do."},
		of("permissions", "Permissions", "What an API key may be allowed to do."),
		of("settings", "Settings", "Every flag of every command, with its variable and default."),
		of("event-files", "Files of events", "How other programs read the files of analytics."),
		of("architecture", "How it works inside", "For those who are about to change the code."),
		of("performance", "Performance", "What was measured, and how."),
		of("scaling", "Scaling", "How far one machine goes, what comes then, and what breaks first."),
	}},
	{"Operate", []entry{
		of("operating", "Operating", "Folders, processes, TLS, events, limits, backup, failures."),
		of("containers", "Containers", "The image, one node and a cluster with compose."),
		of("kubernetes", "Kubernetes", "A Helm chart: one pod, or several for each role."),
		of("sign-in", "Sign-in with a provider", "Keycloak, Authentik, Entra ID and Google."),
		of("proxies", "Proxies", "nginx, Caddy, HAProxy and Cloudflare in front."),
		of("dns-provider", "DNS provider", "Host the zones of managed domains."),
		of("monitoring", "Monitoring", "Probes, metrics, alerts and logs."),
		of("troubleshooting", "Troubleshooting", "What a message means, and what to do."),
		of("upgrade", "Upgrades", "From one version to the next."),
		of("privacy", "Privacy", "What is stored of a visitor, and for how long."),
	}},
}

// all returns the navigation as one list.
func all() (entries []entry) {
	for _, g := range groups {
		entries = append(entries, g.Entries...)
	}
	return entries
}

// Pages are the pages of the site by their addresses. Each is made when it is asked for.
func Pages() map[string]func() []byte {
	pages := map[string]func() []byte{Root: index}
	for _, e := range all() {
		if e.file() != "" {
			pages[e.Address] = func() []byte { return page(e) }
		}
	}
	return pages
}

// Files are the files of the folder docs by their addresses: the pages as Markdown, and what
// they show or link to.
func Files() map[string][]byte {
	files := map[string][]byte{}
	err := fs.WalkDir(docs.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[Root+name], err = docs.Files.ReadFile(name)
		}
		return err
	})
	if err != nil {
		panic(err) // the files are part of this program
	}
	return files
}

// page makes a page of its Markdown.
func page(e entry) []byte {
	source, err := docs.Files.ReadFile(e.file())
	if err != nil {
		panic(err) // a test compares the navigation with the files
	}
	body, sections := convert(source)
	return Layout(Content{Address: e.Address, Title: e.Label, Body: body, Sections: sections, Source: Root + e.file()})
}

// index makes the page that lists all others.
func index() []byte {
	return Layout(Content{Address: Root, Title: "Documentation", Body: template.HTML(fill("index", groups))})
}
