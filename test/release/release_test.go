// Package release makes a release of the tree as it is, twice, and tries what is in it with the tools
// of those who get it.
package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// version is that of the releases; their files begin with name.
const (
	version = "0.1.0-rc.1"
	name    = "waymark_" + version + "_linux_amd64"
)

// folder has all files of the tests.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "release"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// run runs a command in a folder and returns what it prints; it fails the test when the command fails.
func run(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	out, err := command(dir, program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v (scripts/tools installs what is missing)\n%s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// outside are variables that would tell the release about the tests, the make around them, or their version.
var outside = regexp.MustCompile(`^(MAKE|MFLAGS|VERSION=|COMMIT=|GO=|GIT_|GOFLAGS=|SOURCE_DATE_EPOCH=|WAYMARK_)`)

func command(dir, program string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir = dir
	for _, line := range os.Environ() {
		if !outside.MatchString(line) {
			c.Env = append(c.Env, line)
		}
	}
	c.Env = append(c.Env, "GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.com",
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.com",
		"GIT_COMMITTER_DATE=2026-01-02T03:04:05Z", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C.UTF-8")
	return c
}

// tree copies the tree as it is, with what is not committed, to a repository of its own, in which it is a version.
func tree(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(folder, name)
	files := run(t, "../..", "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for file := range strings.SplitSeq(strings.TrimSuffix(files, "\x00"), "\x00") {
		from, to := filepath.Join("../..", file), filepath.Join(dir, file)
		info, err := os.Stat(from)
		if os.IsNotExist(err) { // removed, and not committed yet
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "git", "init", "-q")
	run(t, dir, "git", "add", "-A")
	run(t, dir, "git", "commit", "-q", "-m", "release")
	run(t, dir, "git", "tag", "v"+version)
	return dir
}

// release makes a release in a tree and returns the folder with its files.
func release(t *testing.T, name string) string {
	t.Helper()
	dir := tree(t, name)
	run(t, dir, "make", "release", "RELEASE=linux/amd64")
	return filepath.Join(dir, "dist")
}

var (
	first     string
	firstOnce sync.Once
)

// dist returns the folder with the files of a release.
func dist(t *testing.T) string {
	t.Helper()
	firstOnce.Do(func() { first = release(t, "first") })
	if first == "" {
		t.Fatal("there is no release")
	}
	return first
}

// unpacked returns the folder that the archive of a release has.
func unpacked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "tar", "-xzf", filepath.Join(dist(t), name+".tar.gz"))
	return filepath.Join(dir, name)
}

// Two releases of one commit are equal, in folders with other names and at another time.
func TestTwoReleasesAreEqual(t *testing.T) {
	one, two := dist(t), release(t, "second-folder")
	files, err := os.ReadDir(one)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
		a, err := os.ReadFile(filepath.Join(one, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(two, f.Name()))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v)", f.Name(), err)
		}
	}
	want := []string{"SHA256SUMS", name + ".cdx.json", name + ".deb", name + ".rpm", name + ".tar.gz"}
	if !slices.Equal(names, want) {
		t.Errorf("the release has %q, want %q", names, want)
	}
	sums := run(t, one, "sha256sum", "--check", "--strict", "SHA256SUMS")
	if got := strings.Count(sums, ": OK\n"); got != len(want)-1 {
		t.Errorf("SHA256SUMS has %d files:\n%s", got, sums)
	}
}

// What is not committed is released only when that is asked for.
func TestDirtyTreeIsRefused(t *testing.T) {
	dir := tree(t, "dirty")
	if err := os.WriteFile(filepath.Join(dir, "new.go"), []byte("package waymark\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := command(dir, "make", "release", "RELEASE=linux/amd64").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "?? new.go") || !strings.Contains(string(out), "RELEASE=-dirty") {
		t.Errorf("%v\n%s", err, out)
	}
}

// The archive has the program, which knows its version, and the texts that go with it; its entries
// say nothing of who made it.
func TestArchive(t *testing.T) {
	f, err := os.Open(filepath.Join(dist(t), name+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if !zipped.ModTime.IsZero() || zipped.Name != "" {
		t.Errorf("gzip has a time or a name: %+v", zipped.Header)
	}
	modes := map[string]int64{}
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[header.Name] = header.Mode
		at := header.ModTime.UTC().Format("2006-01-02 15:04:05")
		if at != "2026-01-02 03:04:05" || header.Uid != 0 || header.Gid != 0 || header.Uname != "" || header.Gname != "" {
			t.Errorf("%+v", header)
		}
	}
	if want := map[string]int64{name + "/waymark": 0o755, name + "/LICENSE": 0o644, name + "/README.md": 0o644,
		name + "/CHANGELOG.md": 0o644, name + "/THIRD_PARTY_LICENSES": 0o644}; !maps.Equal(modes, want) {
		t.Errorf("the archive has %v, want %v", modes, want)
	}
	dir := unpacked(t)
	commit := strings.TrimSpace(run(t, filepath.Dir(dist(t)), "git", "rev-parse", "--short=12", "HEAD"))
	got := run(t, dir, "./waymark", "version")
	if !regexp.MustCompile(`^waymark v0\.1\.0-rc\.1, commit ` + commit + `, schema \d+\n$`).MatchString(got) {
		t.Errorf("waymark version: %q", got)
	}
	info, err := os.Stat(filepath.Join(dir, "waymark"))
	if err != nil || info.Size() > 60_000_000 {
		t.Errorf("the program has %d bytes, 60,000,000 are allowed (%v)", info.Size(), err)
	}
	licenses, err := os.ReadFile(filepath.Join(dir, "THIRD_PARTY_LICENSES"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range modules(t, filepath.Join(dir, "waymark")) {
		path, version, _ := strings.Cut(d, "@")
		if !strings.Contains(string(licenses), "==== "+path+" "+version+"\n") {
			t.Errorf("THIRD_PARTY_LICENSES lacks %s", d)
		}
	}
}

// modules returns what go version -m says that a program was made of.
func modules(t *testing.T, program string) (all []string) {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range info.Deps {
		all = append(all, m.Path+"@"+m.Version)
	}
	if len(all) < 30 {
		t.Fatalf("the program names %d modules", len(all))
	}
	return all
}

// The SBOM fits the schema that CycloneDX publishes, and lists what is in the program: each module, the
// standard library, and the scripts of npm.
func TestSBOM(t *testing.T) {
	run(t, ".", "npm", "ci", "--ignore-scripts", "--silent", "--no-audit", "--no-fund")
	file, err := os.Open(filepath.Join(dist(t), name+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	bom, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for _, schema := range []string{"bom-1.6", "jsf-0.82", "spdx"} { // the first refers to the others
		file := schema + ".SNAPSHOT.schema.json"
		text, err := os.ReadFile("node_modules/@cyclonedx/cyclonedx-library/res/schema/" + file)
		if err != nil {
			t.Fatal(err)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource("http://cyclonedx.org/schema/"+file, document); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.SNAPSHOT.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(bom); err != nil {
		t.Error(err)
	}

	var listed struct {
		Metadata struct {
			Component struct{ Version string }
		}
		Components []struct{ Name, Version, PURL string }
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &listed); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range listed.Components {
		kind, _, _ := strings.Cut(strings.TrimPrefix(c.PURL, "pkg:"), "/")
		got = append(got, kind+" "+c.Name+"@"+c.Version)
	}
	goVersion := strings.Fields(run(t, ".", "go", "env", "GOVERSION"))[0]
	want := []string{"golang std@" + strings.TrimPrefix(goVersion, "go")}
	for _, m := range modules(t, filepath.Join(unpacked(t), "waymark")) {
		want = append(want, "golang "+m)
	}
	want = append(want, scripts(t)...)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the SBOM has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if listed.Metadata.Component.Version != version {
		t.Errorf("the SBOM is of version %s", listed.Metadata.Component.Version)
	}
}

// scripts returns what the pages of the program have from npm, as others say it: those who copy it, and
// the address of the reference's script.
func scripts(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../dashboard/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var npm struct{ Dependencies map[string]string }
	if err := json.Unmarshal(text, &npm); err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("../../scripts/vendor")
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range npm.Dependencies {
		if strings.Contains(string(script), "node_modules/"+name+"/dist/") {
			all = append(all, "npm "+name+"@"+version)
		}
	}
	reference, err := os.ReadFile("../../internal/server/docs.go")
	if err != nil {
		t.Fatal(err)
	}
	redoc := regexp.MustCompile(`"/docs/redoc-([0-9.]+)\.js"`).FindSubmatch(reference)
	if redoc == nil || len(all) < 3 {
		t.Fatalf("no address of redoc, or few of %v", all)
	}
	return append(all, "npm redoc@"+string(redoc[1]))
}

// files are those of both packages, with their modes, besides completion of zsh and the licence.
var files = map[string]string{
	"/usr/bin/waymark":                                  "-rwxr-xr-x",
	"/usr/lib/systemd/system/waymark.service":           "-rw-r--r--",
	"/usr/lib/sysusers.d/waymark.conf":                  "-rw-r--r--",
	"/etc/waymark/waymark.yaml":                         "-rw-------",
	"/usr/share/bash-completion/completions/waymark":    "-rw-r--r--",
	"/usr/share/fish/vendor_completions.d/waymark.fish": "-rw-r--r--",
	"/usr/share/doc/waymark/CHANGELOG.md":               "-rw-r--r--",
	"/usr/share/doc/waymark/README.md":                  "-rw-r--r--",
	"/usr/share/doc/waymark/THIRD_PARTY_LICENSES":       "-rw-r--r--",
}

// with returns the files of one kind of package.
func with(more ...string) map[string]string {
	all := maps.Clone(files)
	for _, name := range more {
		all[name] = "-rw-r--r--"
	}
	return all
}

// The deb has the files, the fields and the configuration file that dpkg-deb reads of it.
func TestDeb(t *testing.T) {
	deb := filepath.Join(dist(t), name+".deb")
	got := map[string]string{}
	for line := range strings.Lines(run(t, ".", "dpkg-deb", "--contents", deb)) {
		fields := strings.Fields(line)
		if fields[1] != "root/root" {
			t.Errorf("not root's: %s", line)
		}
		if strings.HasPrefix(fields[0], "-") {
			got[strings.TrimPrefix(fields[5], ".")] = fields[0]
		}
	}
	want := with("/usr/share/zsh/vendor-completions/_waymark", "/usr/share/doc/waymark/copyright")
	if !maps.Equal(got, want) {
		t.Errorf("the deb has %v, want %v", got, want)
	}
	for field, want := range map[string]string{"Package": "waymark", "Version": "0.1.0~rc.1", "Architecture": "amd64",
		"Depends": "systemd | systemd-standalone-sysusers | systemd-sysusers"} {
		if got := strings.TrimSpace(run(t, ".", "dpkg-deb", "--field", deb, field)); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	if got := run(t, ".", "dpkg-deb", "--info", deb, "conffiles"); got != "/etc/waymark/waymark.yaml\n" {
		t.Errorf("conffiles: %q", got)
	}
}

// The rpm has the same files; its configuration file is kept when it was changed.
func TestRPM(t *testing.T) {
	rpm := filepath.Join(dist(t), name+".rpm")
	query := func(format string) string {
		t.Helper()
		return run(t, ".", "rpm", "-qp", "--queryformat", format, rpm)
	}
	got := map[string]string{}
	for line := range strings.Lines(query("[%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME}\n]")) {
		fields := strings.Fields(line)
		if fields[2] != "root" {
			t.Errorf("not root's: %s", line)
		}
		if strings.HasPrefix(fields[1], "-") {
			got[fields[0]] = fields[1]
		}
	}
	want := with("/usr/share/zsh/site-functions/_waymark", "/usr/share/licenses/waymark/LICENSE")
	if !maps.Equal(got, want) {
		t.Errorf("the rpm has %v, want %v", got, want)
	}
	if got, want := query("%{NAME} %{VERSION} %{ARCH} %{BUILDTIME} %{BUILDHOST}"),
		"waymark 0.1.0~rc.1 x86_64 1767323045 localhost"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := run(t, ".", "rpm", "-qp", "--configfiles", rpm); got != "/etc/waymark/waymark.yaml\n" {
		t.Errorf("configuration: %q", got)
	}
	if got := query("[%{FILENAMES} %{FILEFLAGS:fflags}\n]"); !strings.Contains(got, "/waymark.yaml cn\n") {
		t.Errorf("flags:\n%s", got)
	}
	unpack := `rpm2cpio "$1" | cpio --quiet -i --to-stdout ./usr/bin/waymark /usr/bin/waymark`
	content, err := exec.Command("sh", "-c", unpack, "sh", rpm).Output()
	if err != nil {
		t.Fatal(err)
	}
	archived, err := os.ReadFile(filepath.Join(unpacked(t), "waymark"))
	if err != nil || !bytes.Equal(content, archived) {
		t.Errorf("the rpm has another program than the archive: %d bytes, %v", len(content), err)
	}
}

// The scripts of the packages are such that shellcheck has no remark.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("../../deploy/packages/*.sh")
	if err != nil || len(scripts) != 3 {
		t.Fatalf("%q, %v", scripts, err)
	}
	run(t, ".", "shellcheck", append(scripts, "install.sh")...)
}

// dpkg installs, upgrades, removes and purges the deb, and rpm its package: nothing starts, a service that
// runs goes on with the new program, settings are kept, and so is the data.
func TestInstall(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Fatal("this test needs root: it installs a package, in a layer over this machine that is lost afterwards")
	}
	old := filepath.Join(dist(t), name+".deb")
	dir := t.TempDir()
	run(t, dir, "dpkg-deb", "--raw-extract", old, "new")
	control := filepath.Join(dir, "new/DEBIAN/control")
	text, err := os.ReadFile(control)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(control, bytes.Replace(text, []byte("0.1.0~rc.1"), []byte("0.1.0"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, dir, "dpkg-deb", "-Znone", "--build", "new", "new.deb")
	got := run(t, ".", "unshare", "--mount", "sh", "install.sh", old, filepath.Join(dir, "new.deb"),
		filepath.Join(dist(t), name+".rpm"), t.TempDir())
	got = regexp.MustCompile(`commit [0-9a-f]+, schema \d+`).ReplaceAllString(got, "commit C, schema S")
	const want = `== install
systemctl daemon-reload
systemctl try-restart waymark.service
waymark:/var/lib/waymark:/usr/sbin/nologin
600 root /etc/waymark/waymark.yaml
waymark v0.1.0-rc.1, commit C, schema S
== upgrade
systemctl daemon-reload
systemctl daemon-reload
systemctl try-restart waymark.service
log-level: debug
== remove
systemctl disable --now waymark.service
systemctl daemon-reload
ls: cannot access '/usr/bin/waymark': No such file or directory
/etc/waymark:
waymark.yaml
== purge
systemctl daemon-reload
Kept: the data in /var/lib/waymark, and the user waymark. To remove them: rm -r /var/lib/waymark && userdel waymark
ls: cannot access '/etc/waymark': No such file or directory
/var/lib/waymark
waymark
== rpm install
systemctl daemon-reload
systemctl try-restart waymark.service
600 root /etc/waymark/waymark.yaml
waymark v0.1.0-rc.1, commit C, schema S
== rpm upgrade
systemctl daemon-reload
systemctl try-restart waymark.service
systemctl daemon-reload
log-level: debug
== rpm removal
systemctl disable --now waymark.service
systemctl daemon-reload
Kept: the data in /var/lib/waymark, and the user waymark. To remove them: rm -r /var/lib/waymark && userdel waymark
ls: cannot access '/usr/bin/waymark': No such file or directory
/etc/waymark:
waymark.yaml.rpmsave
`
	if got != want {
		t.Errorf("dpkg and rpm did:\n%s\nwant:\n%s", got, want)
	}
}
