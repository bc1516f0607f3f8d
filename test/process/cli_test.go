package process_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image/png"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// terminal runs commands that are clients of a server, in a folder of their own.
type terminal struct {
	t    *testing.T
	home string
}

func (c *terminal) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = c.home, environment("XDG_CONFIG_HOME="+filepath.Join(c.home, "config"))
	return cmd
}

// run runs a command and requires its exit code.
func (c *terminal) run(want int, args ...string) (stdout, stderr string) {
	c.t.Helper()
	stdout, stderr, code := finish(c.t, c.command(args...))
	if code != want {
		c.t.Fatalf("waymark %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, stdout, stderr)
	}
	return stdout, stderr
}

// read runs a command that prints JSON.
func (c *terminal) read(into any, args ...string) {
	c.t.Helper()
	out, _ := c.run(0, append(args, "--output=json")...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		c.t.Fatalf("waymark %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// signIn returns a terminal that is signed in as an owner with an app and a domain.
func signIn(t *testing.T, s *server) *terminal {
	t.Helper()
	owner := newOwner(t, s.client(s.token("owner@example.com")))
	c := &terminal{t, t.TempDir()}
	cmd := c.command("login", "http://"+s.api)
	cmd.Stdin = strings.NewReader(owner.token + "\n")
	if _, stderr, code := finish(t, cmd); code != 0 || !strings.Contains(stderr, "signed in") || strings.Contains(stderr, owner.token) {
		t.Fatalf("login: exit code %d, %s", code, stderr)
	}
	return c
}

// A person adds, lists, shows, archives and restores links by their addresses, and prints a QR code.
func TestLinksFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "sqlite")
	c := signIn(t, s)
	made, _ := c.run(0, "link", "add", "https://example.com/shop?a=1&b=2")
	made = strings.TrimSpace(made)
	slug := made[strings.LastIndexByte(made, '/')+1:]
	if len(slug) != 7 || !strings.Contains(made, "://"+hostname) {
		t.Errorf("the address of the new link: %q", made)
	}
	c.run(0, "link", "add", "https://example.com/spring", "--slug=spring", "--prefix=sale", "--title=Spring & more", "--web-only",
		"--expires=2099-01-01T00:00:00Z")
	if _, stderr := c.run(5, "link", "add", "https://example.com/", "--slug=spring", "--prefix=sale"); !strings.Contains(stderr, "exists already") {
		t.Error(stderr)
	}
	if _, stderr := c.run(6, "link", "add", "http://example.com/"); !strings.Contains(stderr, "https://") {
		t.Error(stderr)
	}
	var links []struct{ URL, Title, State, ID string }
	c.read(&links, "link", "list")
	if len(links) != 2 || links[0].Title != "Spring & more" || links[1].URL != made {
		t.Fatalf("the list: %+v", links)
	}
	c.read(&links, "link", "list", "--limit=1")
	if len(links) != 1 {
		t.Errorf("a list of 1: %+v", links)
	}
	table, _ := c.run(0, "link", "list", "--search=spring", "--output=table")
	if lines := strings.Split(strings.TrimSpace(table), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "url ") ||
		!strings.Contains(lines[1], "Spring & more") {
		t.Errorf("the table:\n%s", table)
	}
	var shown struct {
		ID, DesktopURL string
		WebOnly        bool
	}
	for _, address := range []string{"sale/spring", hostname + "/sale/spring", "https://" + hostname + "/sale/spring", links[0].ID} {
		c.read(&shown, "link", "show", address)
		if shown.DesktopURL != "https://example.com/spring" || !shown.WebOnly {
			t.Errorf("%s: %+v", address, shown)
		}
	}
	c.run(4, "link", "show", "spring") // without its prefix
	// Without a domain, an address must be that of one link alone.
	c.run(0, "api", "createDomains", "-f", "mode=platform", "-f", "prefix=other")
	c.run(0, "link", "add", "https://example.com/other", "--domain=other.localhost", "--slug=spring", "--prefix=sale")
	c.run(0, "context", "set", "--domain=")
	if _, stderr := c.run(2, "link", "archive", "sale/spring"); !strings.Contains(stderr, "//"+hostname) || !strings.Contains(stderr, "//other.localhost") {
		t.Error(stderr)
	}
	c.run(0, "api", "deleteLinksLinkId", "--link-id", linkNamed(c, "other.localhost/sale/spring"))
	c.read(&shown, "link", "show", "sale/spring")
	if shown.DesktopURL != "https://example.com/spring" {
		t.Errorf("the only link with the address: %+v", shown)
	}
	c.run(0, "context", "set", "--domain="+hostname)
	c.run(0, "link", "archive", made, "sale/spring")
	c.read(&links, "link", "list", "--state=archived")
	if len(links) != 2 {
		t.Errorf("archived: %+v", links)
	}
	c.run(0, "link", "restore", "sale/spring")
	c.read(&links, "link", "list", "--state=active")
	if len(links) != 1 || links[0].Title != "Spring & more" {
		t.Errorf("active: %+v", links)
	}
	if out, _ := c.run(0, "qr", made, "--size=300"); strings.TrimSpace(out) != slug+".png" {
		t.Errorf("qr: %q", out)
	}
	picture, err := os.Open(filepath.Join(c.home, slug+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	if config, err := png.DecodeConfig(picture); err != nil || config.Width != 300 {
		t.Errorf("the picture: %+v, %v", config, err)
	}
	if out, _ := c.run(0, "qr", made, "--format=svg", "--out=-"); !strings.Contains(out, "<svg") {
		t.Errorf("an SVG: %.100s", out)
	}
}

// linkNamed returns the id of a link.
func linkNamed(c *terminal, address string) string {
	var l struct{ ID string }
	c.read(&l, "link", "show", address)
	return l.ID
}

// Any operation can be called by its name: the app comes from the context, the revision is read, a
// list is read to its end.
func TestOperationsFromTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "sqlite")
	c := signIn(t, s)
	list, _ := c.run(0, "api")
	if n := strings.Count(list, "\n  "); n != 143 {
		t.Errorf("%d operations are listed", n)
	}
	help, _ := c.run(0, "api", "updateLinksLinkId", "--help")
	for _, want := range []string{"--link-id", "--if-match", "--idempotency-key", "lifecycle.expiresAt", "links:update"} {
		if !strings.Contains(help, want) {
			t.Errorf("the help does not tell %s:\n%s", want, help)
		}
	}
	var tag struct{ ID, Name, Revision string }
	for i := range 5 {
		c.read(&tag, "api", "createTags", "--field", fmt.Sprintf("name=tag %d", i))
	}
	c.read(&tag, "api", "updateTagsTagId", "--tag-id", tag.ID, "-f", "name=renamed", "-f", "utm.source=news")
	if tag.Name != "renamed" {
		t.Errorf("renamed: %+v", tag)
	}
	if _, stderr := c.run(5, "api", "updateTagsTagId", "--tag-id", tag.ID, "-f", "name=b", "--if-match=5f0b1c6d-8a5e-4f0b-9c8d-6a2e1b7f4c90"); !strings.Contains(stderr, "revision_conflict") {
		t.Error(stderr)
	}
	// The app of the context is meant where its revision is read, too.
	var app struct{ Name string }
	c.read(&app, "api", "updateAppsAppId", "-f", "name=Another name")
	if app.Name != "Another name" {
		t.Errorf("the app: %+v", app)
	}
	var tags []struct{ Name string }
	_, stderr := c.run(0, "api", "getTags", "--limit=2", "--output=csv")
	if !strings.Contains(stderr, "--cursor ") {
		t.Errorf("nothing says that more rows follow: %q", stderr)
	}
	c.read(&tags, "api", "getTags", "--limit=2", "--all")
	if len(tags) != 5 {
		t.Errorf("all tags: %+v", tags)
	}
	table, _ := c.run(0, "api", "getTags", "--limit=2", "--all", "--output=csv", "--columns=name,utm.source")
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(table, "\ufeff"))).ReadAll()
	if err != nil || len(rows) != 6 || !slices.Equal(rows[0], []string{"name", "utm.source"}) ||
		!slices.ContainsFunc(rows, func(row []string) bool { return row[0] == "renamed" && row[1] == "news" }) {
		t.Errorf("as CSV: %q, %v", rows, err)
	}
	// A key makes a repeated call happen once.
	key := "7d9f0a52-3c1e-4b8a-9f57-2e6c81d4a0b3"
	var first, second struct{ ID string }
	c.read(&first, "api", "createFolders", "-f", "name=once", "--idempotency-key", key)
	c.read(&second, "api", "createFolders", "-f", "name=once", "--idempotency-key", key)
	if first.ID != second.ID || first.ID == "" {
		t.Errorf("%+v and %+v", first, second)
	}
	cmd := c.command("api", "createFolders", "--json=-", "--output=json")
	cmd.Stdin = strings.NewReader(`{"name":"from JSON"}`)
	if out, stderr, code := finish(t, cmd); code != 0 || !strings.Contains(out, `"from JSON"`) {
		t.Errorf("a body from the standard input: %d, %s%s", code, out, stderr)
	}
	c.run(0, "api", "deleteTagsTagId", "--tag-id", tag.ID)
	c.run(4, "api", "deleteTagsTagId", "--tag-id", tag.ID)
	// An image is uploaded and downloaded.
	c.run(0, "link", "add", "https://example.com/", "--slug=pictured")
	c.run(0, "qr", "pictured", "--out=a.png")
	var asset struct{ ID string }
	c.read(&asset, "api", "createAssets", "--file", filepath.Join(c.home, "a.png"))
	c.run(0, "api", "deleteAssetsAssetId", "--asset-id", asset.ID)
	for _, wrong := range [][]string{{"api", "getLinkz"}, {"api", "getLinks", "--nonsense"}, {"api", "getTagsTagId"}, {"api", "createTags", "-f", "name"},
		{"link", "list", "--limit=0"}, {"operations", "follow"}} {
		if _, stderr := c.run(2, wrong...); strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: %s", wrong, stderr)
		}
	}
}

// The exit code tells who may not, what is away, and what is unknown; a lost mutation tells its key.
func TestFailuresOfTheCommandLine(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "sqlite")
	c := signIn(t, s)
	if _, stderr := c.run(2, "link", "list", "--context=other"); !strings.Contains(stderr, `no context "other"`) {
		t.Error(stderr)
	}
	cmd := c.command("api", "getMe")
	cmd.Env = append(cmd.Env, "WAYMARK_SERVER=http://"+s.api, "WAYMARK_TOKEN=wm_stg_wrong")
	if _, stderr, code := finish(t, cmd); code != 3 || !strings.Contains(stderr, "unauthenticated") {
		t.Errorf("a wrong credential: %d, %s", code, stderr)
	}
	cmd = c.command("link", "list")
	cmd.Env = append(cmd.Env, "WAYMARK_TOKEN=wm_stg_wrong")
	if stdout, stderr, code := finish(t, cmd); code != 3 || stdout != "" || strings.Contains(stderr, "wm_stg_wrong") {
		t.Errorf("a list that is refused: %d, %q, %s", code, stdout, stderr)
	}
	for _, address := range []string{"ftp://waymark.example", s.api} { // before a credential is asked for
		if _, stderr := c.run(2, "login", address); !strings.Contains(stderr, "is not an address") {
			t.Error(stderr)
		}
	}
	// A server that takes the call and is gone before it answers.
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go http.Serve(gone, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer gone.Close()
	cmd = c.command("api", "createTags", "-f", "name=lost", "-f", "appId=app_1", "--patience=1s")
	cmd.Env = append(cmd.Env, "WAYMARK_SERVER=http://"+gone.Addr().String(), "WAYMARK_TOKEN=x")
	if _, stderr, code := finish(t, cmd); code != 8 || !strings.Contains(stderr, "--idempotency-key ") {
		t.Errorf("a lost call: %d, %s", code, stderr)
	}
	cmd = c.command("api", "updateTagsTagId", "--tag-id=t", "-f", "name=lost", "--if-match=5f0a", "--patience=1s")
	cmd.Env = append(cmd.Env, "WAYMARK_SERVER=http://"+gone.Addr().String(), "WAYMARK_TOKEN=x")
	if _, stderr, code := finish(t, cmd); code != 8 || !strings.Contains(stderr, " --if-match 5f0a,") {
		t.Errorf("a lost change: %d, %s", code, stderr)
	}
	cmd = c.command("link", "add", "https://example.com/", "--app=app_1", "--domain=go.example", "--slug=lost")
	cmd.Env = append(cmd.Env, "WAYMARK_SERVER=http://"+gone.Addr().String(), "WAYMARK_TOKEN=x")
	if _, stderr, code := finish(t, cmd); code != 8 || !strings.Contains(stderr, "waymark link show go.example/lost tells") {
		t.Errorf("a lost link: %d, %s", code, stderr)
	}
	out, stderr := c.run(0, "context", "list", "--output=json")
	if strings.Contains(out+stderr, "token") {
		t.Errorf("the list of contexts shows a credential: %s", out)
	}
	c.run(0, "context", "remove", "default")
	if _, stderr := c.run(1, "link", "list"); !strings.Contains(stderr, "waymark login") {
		t.Error(stderr)
	}
}

// on runs a command on a terminal of its own, and returns what that shows until the command ends. What is
// typed is typed when the terminal shows the text before it.
func (c *terminal) on(want int, before, typed string, args ...string) string {
	c.t.Helper()
	script, err := exec.LookPath("script")
	if err != nil {
		c.t.Fatalf("this test needs script (scripts/tools installs it): %v", err)
	}
	line := strings.Join(append([]string{binary}, args...), " ")
	cmd := exec.Command(script, "--quiet", "--return", "--command", line, "/dev/null")
	cmd.Dir, cmd.Env = c.home, c.command().Env
	keys, err := cmd.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	defer keys.Close()
	running := launch(c.t, cmd)
	eventually(c.t, "the terminal shows "+before, func() error {
		if !strings.Contains(running.stdout.String(), before) {
			return fmt.Errorf("%q", running.stdout.String())
		}
		return nil
	})
	if _, err := keys.Write([]byte(typed)); err != nil {
		c.t.Fatal(err)
	}
	if code := running.wait(); code != want {
		c.t.Errorf("%s on a terminal: exit code %d, want %d\n%s", line, code, want, running.stdout.String())
	}
	return running.stdout.String()
}

// On a terminal, text of owners commands nothing in any form, and Ctrl-C ends a question.
func TestTerminal(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "sqlite")
	c := signIn(t, s)
	c.run(0, "link", "add", "https://example.com/", "--slug=odd", "--title=Odd")
	c.run(0, "api", "updateLinksLinkId", "--link-id", linkNamed(c, "odd"), "-f", `parameters:={"a":"\u009b2J","b":"\u202eabc"}`)
	if piped, _ := c.run(0, "link", "show", "odd"); !strings.Contains(piped, "\u009b2J") || !strings.Contains(piped, "\u202eabc") {
		t.Errorf("a program reads other text: %q", piped)
	}
	for _, form := range []string{"json", "csv", "table"} {
		shown := c.on(0, "", "", "link", "show", "odd", "--output="+form)
		if !strings.Contains(shown, " 2J") || strings.ContainsAny(shown, "\u009b\u202e\x1b") {
			t.Errorf("%s on a terminal: %q", form, shown)
		}
	}
	if shown := c.on(130, "API key or session token", "\x03", "login", "http://"+s.api); !strings.Contains(shown, "interrupted") {
		t.Errorf("Ctrl-C instead of a credential: %q", shown)
	}
	c.bitlyFile("links.json", 3, nil)
	if shown := c.on(130, "Import 3 rows?", "\x03", "import", "links.json", "--domain="+hostname); !strings.Contains(shown, "run the same command again") {
		t.Errorf("Ctrl-C instead of an answer: %q", shown)
	}
	if shown := c.on(0, "Import 3 rows?", "y\n", "import", "links.json", "--domain="+hostname); !strings.Contains(shown, "3 of 3 rows became links") ||
		!strings.Contains(shown, "rows/s") {
		t.Errorf("yes: %q", shown)
	}
}

// bitlyFile writes a file as Bitly answers it, with so many links.
func (c *terminal) bitlyFile(name string, links int, change func(i int, link map[string]any)) {
	c.t.Helper()
	all := make([]map[string]any, links)
	for i := range all {
		all[i] = map[string]any{"link": fmt.Sprintf("https://bit.ly/b%05d", i), "long_url": fmt.Sprintf("https://shop.example/%d", i),
			"title": fmt.Sprintf("Product %d", i), "archived": false, "custom_bitlinks": []string{}}
		if change != nil {
			change(i, all[i])
		}
	}
	text, err := json.Marshal(map[string]any{"links": all, "pagination": map[string]any{"next": ""}})
	if err != nil {
		c.t.Fatal(err)
	}
	write(c.t, filepath.Join(c.home, name), string(text))
}

// report returns the rows of a report by their number in the file.
func (c *terminal) report(name string) map[string][]string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.home, name))
	if err != nil {
		c.t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err != nil {
		c.t.Fatal(err)
	}
	all := map[string][]string{}
	for _, row := range rows[1:] {
		if all[row[0]] != nil {
			c.t.Errorf("row %s is in the report twice", row[0])
		}
		all[row[0]] = row
	}
	return all
}

// An import that is killed, again and again, goes on: every row becomes one link.
func TestKilledImport(t *testing.T) {
	t.Parallel()
	const links = 500
	s := serve(t, t.TempDir(), "sqlite")
	c := signIn(t, s)
	c.bitlyFile("links.json", links, nil)
	args := []string{"import", "links.json", "--domain=" + hostname, "--yes"}
	journal := filepath.Join(c.home, "links.json.import")
	for _, parts := range []int{0, 2, 9, 13} { // that are known when it is killed
		running := launch(t, c.command(args...))
		s.eventually("the import gets on", func() error {
			text, err := os.ReadFile(journal)
			if err == nil && bytes.Count(text, []byte("\n")) <= parts {
				err = fmt.Errorf("%d lines", bytes.Count(text, []byte("\n")))
			}
			return err
		})
		running.kill()
	}
	// A person may interrupt it, too.
	running := launch(t, c.command(args...))
	s.eventually("the import gets on", func() error {
		if !strings.Contains(running.stderr.String(), "can become links") {
			return fmt.Errorf("%q", running.stderr.String())
		}
		return nil
	})
	running.signal(syscall.SIGINT)
	if code := running.wait(); code != 130 || !strings.Contains(running.stderr.String(), "run the same command again") {
		t.Errorf("interrupted: exit code %d, %s", code, running.stderr.String())
	}
	_, stderr := c.run(0, args...)
	if !strings.Contains(stderr, "it goes on where it was left") || !strings.Contains(stderr, "500 of 500 rows became links") {
		t.Error(stderr)
	}
	rows := c.report("links.json.report.csv")
	if len(rows) != links {
		t.Errorf("%d rows are in the report", len(rows))
	}
	for n, row := range rows {
		if row[1] != "succeeded" || row[3] == "" { // made twice, it would be taken
			t.Fatalf("row %s: %q", n, row)
		}
	}
	if _, err := os.Stat(journal); !os.IsNotExist(err) {
		t.Errorf("the journal of a finished import: %v", err)
	}
	// All of them come out in one file, from which another domain can be filled.
	c.run(0, "export", "--all", "--out=all.csv")
	text, err := os.ReadFile(filepath.Join(c.home, "all.csv"))
	if err != nil {
		t.Fatal(err)
	}
	exported, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff")))).ReadAll()
	if err != nil || len(exported) != links+1 {
		t.Fatalf("%d rows are exported, %v", len(exported)-1, err)
	}
	of := func(row []string, column string) string { return row[slices.Index(exported[0], column)] }
	if first := exported[1]; of(first, "slug") != "b00000" && of(first, "webOnly") != "true" {
		t.Errorf("the oldest link comes first: %q", first)
	}
	one, _ := c.run(0, "export", "--filter=q=b00007")
	few, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(one, "\ufeff"))).ReadAll()
	if err != nil || len(few) != 2 || !slices.Equal(few[0], exported[0]) {
		t.Errorf("the file of the server: %q, %v; its columns are those of all", few, err)
	}
	var domain struct{ Hostname string }
	c.read(&domain, "api", "createDomains", "-f", "mode=platform", "-f", "prefix=other")
	some := strings.SplitAfter(string(text), "\r\n")[:61] // a header and 60 rows: two parts
	write(t, filepath.Join(c.home, "some.csv"), strings.Join(some, ""))
	if _, stderr := c.run(0, "import", "some.csv", "--domain=other.localhost", "--yes"); !strings.Contains(stderr, "of waymark") ||
		!strings.Contains(stderr, "60 of 60 rows became links") {
		t.Error(stderr)
	}
}

// Rows that cannot become links are loud, and keep no other from becoming one.
func TestImportWithMistakes(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "sqlite")
	c := signIn(t, s)
	c.bitlyFile("links.json", 120, func(i int, link map[string]any) {
		switch i {
		case 3:
			link["long_url"] = "http://insecure.example/"
		case 70:
			link["long_url"] = "nowhere"
		case 80:
			link["title"] = strings.Repeat("x", 30_000)
		}
	})
	_, stderr := c.run(1, "import", "links.json", "--domain="+hostname, "--dry-run")
	if !strings.Contains(stderr, "117 of 120 rows can become links, 3 cannot") || !strings.Contains(stderr, "rows 4, 71: desktopUrl") {
		t.Error(stderr)
	}
	var links []any
	c.read(&links, "link", "list")
	if len(links) != 0 {
		t.Errorf("a dry run made %d links", len(links))
	}
	if _, stderr := c.run(2, "import", "links.json", "--domain="+hostname); !strings.Contains(stderr, "--yes") {
		t.Error(stderr)
	}
	// Other options are another import, which takes the place of one that was only tried.
	if _, stderr := c.run(1, "import", "links.json", "--domain="+hostname, "--https", "--dry-run"); strings.Contains(stderr, "it goes on") ||
		!strings.Contains(stderr, "118 of 120 rows can become links") {
		t.Error(stderr)
	}
	if _, stderr := c.run(1, "import", "links.json", "--domain="+hostname, "--yes"); !strings.Contains(stderr, "117 of 120 rows became links") {
		t.Error(stderr)
	}
	rows := c.report("links.json.report.csv")
	for row, want := range map[string]string{"3": "succeeded", "4": "invalid", "71": "invalid", "81": "invalid", "120": "succeeded"} {
		if len(rows) != 120 || rows[row] == nil || rows[row][1] != want {
			t.Errorf("row %s of %d: %q, want %s", row, len(rows), rows[row], want)
		}
	}
	// A file that is corrected: what is a link already is refused, the rest becomes one.
	_, stderr = c.run(1, "import", "links.json", "--domain="+hostname, "--yes", "--https")
	if !strings.Contains(stderr, "1 of 120 rows became links") || !strings.Contains(stderr, "exists already") {
		t.Error(stderr)
	}
	write(t, filepath.Join(c.home, "mapping.json"), `{"link": "url.path", "long_url": "desktopUrl", "titel": "title"}`)
	write(t, filepath.Join(c.home, "excel.csv"), "link;long_url\nhttps://bit.ly/a;https://example.com/\n")
	for says, wrong := range map[string][]string{
		"links.json has no column titel":          {"import", "links.json", "--mapping=mapping.json"},
		"separated by semicolons":                 {"import", "excel.csv"},
		"there is no folder none":                 {"import", "links.json", "--report=none/report.csv"},
		"--out " + c.home + " is a folder":        {"export", "--all", "--out=" + c.home},
		"(see waymark link add --help)":           {"link", "add"},
		`must be one of "table","json","csv" but`: {"link", "list", "--output=xml"},
	} {
		if _, stderr := c.run(2, wrong...); !strings.Contains(stderr, says) {
			t.Errorf("%q: %s, want %s", wrong, stderr, says)
		}
	}
	for _, call := range [][]string{{"link", "list"}, {"export", "--all"}, {"export"}} {
		if _, stderr := c.run(4, append(call, "--app=app_none")...); !strings.Contains(stderr, `there is no app "app_none"`) {
			t.Errorf("%q of an app that is not there: %s", call, stderr)
		}
	}
	if _, stderr := c.run(4, "link", "archive", "b00005", "none"); !strings.Contains(stderr, "no link was archived") {
		t.Errorf("one of two links is misspelt: %s", stderr)
	}
	if _, stderr := c.run(6, "api", "createFolders", "-f", "nme=x"); !strings.Contains(stderr, "\n  /nme: ") {
		t.Errorf("two mistakes in one call: %s", stderr)
	}
	for _, wrong := range [][]string{{"import", "none.json"}, {"import", "links.json", "--from=yourls"}, {"import", "links.json", "--side-by-side=65"}} {
		_, stderr, code := finish(t, c.command(wrong...))
		if code == 0 || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: %d, %s", wrong, code, stderr)
		}
	}
}

// An operation is followed to its end.
func TestFollow(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "sqlite")
	c := signIn(t, s)
	var job struct{ OperationID string }
	c.read(&job, "api", "createExports", "-f", "dataset=links", "-f", "format=json")
	out, _ := c.run(0, "operations", "follow", job.OperationID)
	if !strings.HasSuffix(strings.TrimSpace(out), "export succeeded") {
		t.Errorf("follow: %s", out)
	}
	var shown struct{ Status string }
	if c.read(&shown, "operations", "show", job.OperationID); shown.Status != "succeeded" {
		t.Errorf("show: %+v", shown)
	}
	c.run(4, "operations", "follow", "0198c9a4-0fc8-77f8-9b0e-2ad61748c3ef")
	if stdout, stderr := c.run(1, "operations", "cancel", job.OperationID); stdout != "" || !strings.Contains(stderr, "it had ended (succeeded)") {
		t.Errorf("what had ended is cancelled: %q, %s", stdout, stderr)
	}
}

// Shells complete commands, flags, values, and the operations of the contract with theirs.
func TestCompletion(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "sqlite")
	c := signIn(t, s)
	path := "PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH")
	if filepath.Base(binary) != "waymark" {
		link := filepath.Join(c.home, "waymark")
		if err := os.Symlink(binary, link); err != nil {
			t.Fatal(err)
		}
		path = "PATH=" + c.home + ":" + os.Getenv("PATH")
	}
	for words, want := range map[string][]string{
		"lin":                             {"link"},
		"link a":                          {"add", "archive"},
		"link list --st":                  {"--state"},
		"link list --state a":             {"active", "archived"},
		"api getLinksLinkIdQ":             {"getLinksLinkIdQr"},
		"api updateTagsTagId --id":        {"--idempotency-key"},
		"context use d":                   {"default"},
		"serve --log-level w":             {"warn"},
		"api getLinks --output=cs":        {"--output=csv"},
		"link list --context default --q": nil,
	} {
		fields := strings.Split(words, " ")
		for shell, script := range map[string]string{
			"bash": `source <(waymark completion bash); COMP_WORDS=(waymark "$@"); COMP_CWORD=$#; _waymark; printf '%s\n' "${COMPREPLY[@]}"`,
			"zsh": `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { :; }; source <(waymark completion zsh); ` +
				`words=(waymark "$@"); CURRENT=$(( $# + 1 )); _waymark`,
			"fish": `waymark completion fish | source; complete -C "waymark $argv"`,
		} {
			args := append([]string{"-c", script}, fields...)
			switch shell {
			case "bash", "zsh":
				args = append([]string{"-c", script, shell}, fields...)
			}
			cmd := exec.Command(shell, args...)
			cmd.Dir, cmd.Env = c.home, append(c.command().Env, path, "HOME="+c.home)
			out, stderr, code := finish(t, cmd)
			got := strings.Fields(out)
			slices.Sort(got)
			if code != 0 && shell != "fish" || !slices.Equal(got, want) {
				t.Errorf("%s completes %q with %q, want %q (exit code %d, %s)", shell, words, got, want, code, stderr)
			}
		}
	}
}
