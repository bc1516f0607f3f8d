package waymark_test

import (
	"go/ast"
	"go/build"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// single are constants that bound one value, file, statement or look, and nothing that
// many callers share: the table of bounds leaves them out.
var single = strings.Fields(`
	actor.maxEmail actor.maxKeyID actor.maxName actor.maxReason actor.maxSubject actor.maxToken
	analytics.maxHours analytics.maxRange apikey.maxLifetime asset/imagecheck.maxDecoding asset/imagecheck.maxScans backup.maxManifest
	backup.maxNamed
	browser.maxCookie
	automation/exports.maxBytes automation/exports.maxRecords
	automation/imports.maxContent automation/imports.maxRows
	certificate.maxDetail certificate.maxKey certificate.maxValue
	cli.maxBody cli.maxFile cli.maxFileRows cli.maxSideBySide cli.maxToken cli.maxUpload clicklog.maxPayload
	dnslookup.maxChain dnslookup.maxServers dnsprovider.maxString dnsprovider.maxTTL dnsprovider.maxText
	dnsrecord.maxKnown dnsrecord.maxPerDomain dnsrecord.maxPerSet dnsrecord.maxSetBytes
	domain.maxAppleFile domain.maxObserved domain.maxPrefix domain.maxValue
	eventstore.maxText eventstore/segments.maxEvents eventstore/segments.maxSources
	eventstore/segments.maxComposers eventstore/segments.maxWait
	eventstore/segments/segment.maxDepth eventstore/segments/segment.maxFooter eventstore/segments/segment.maxRows
	link.maxParameters link.maxParametersDepth link.maxSegment
	main.maxListed main.maxReason main.maxScrapes main.maxSecret
	op.maxAppID op.maxBytes op.maxLimit op.maxUpload opt.maxMembers
	page.maxAccept qr.maxLogo redirect.maxPath requestlog.maxPerWrite
	route.maxFallback route.maxNative route.maxQuery schema.maxShape store.maxGroup store.maxShared store.maxSlowText
	tracing.maxAttributes tracing.maxBatch tracing.maxText
	visitor.maxAgent
`)

// constants returns the package-level constants of the program by package and name.
func constants(t *testing.T) map[string]constant.Value {
	t.Helper()
	files := token.NewFileSet()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	build.Default.GOROOT = strings.TrimSpace(string(root)) // which a program that is compiled with -trimpath does not know
	std := importer.ForCompiler(files, "source", nil)
	all := map[string]constant.Value{}
	for _, root := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			names, err := filepath.Glob(filepath.Join(dir, "*.go"))
			if err != nil {
				return err
			}
			var sources []*ast.File
			for _, name := range names {
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				source, err := parser.ParseFile(files, name, nil, 0)
				if err != nil {
					return err
				}
				sources = append(sources, source)
			}
			name := strings.TrimPrefix(filepath.ToSlash(dir), "internal/")
			if len(sources) > 0 && sources[0].Name.Name == "main" {
				name = path.Join(strings.TrimPrefix(name, "cmd/waymark"), "main")
			}
			// What other packages declare is not needed, so nothing but time is imported.
			config := types.Config{IgnoreFuncBodies: true, Error: func(error) {}, Importer: onlyTime{std}}
			checked, _ := config.Check(name, files, sources, nil)
			for _, n := range checked.Scope().Names() {
				if c, ok := checked.Scope().Lookup(n).(*types.Const); ok {
					all[name+"."+n] = c.Val()
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// onlyTime imports package time alone.
type onlyTime struct{ types.Importer }

func (i onlyTime) Import(path string) (*types.Package, error) {
	if path != "time" {
		return nil, fs.ErrNotExist
	}
	return i.Importer.Import(path)
}

// units are those of bounds; time is in nanoseconds.
var units = map[string]int64{"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "ms": 1e6, "s": 1e9, "min": 60e9,
	"h": 3600e9, "days": 24 * 3600e9}

var amount = regexp.MustCompile(`^([\d,]+)(?: (KiB|MiB|GiB|ms|s|min|h|days)\b)?`)

// tableOf returns the rows of a section of docs/operating.md whose last cell names a
// constant, and compares the second cell with it.
func tableOf(t *testing.T, title string, known map[string]constant.Value) (rows map[string][]string) {
	t.Helper()
	page, err := os.ReadFile("docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## "+title+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows = map[string][]string{}
	for line := range strings.SplitSeq(section, "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		code := quoted(cells[len(cells)-1])
		if len(cells) < 3 || len(code) != 1 {
			continue
		}
		name := code[0]
		rows[name] = cells
		value, found := known[name]
		m := amount.FindStringSubmatch(strings.TrimSpace(cells[1]))
		if !found || m == nil {
			t.Errorf("%s: a constant: %t; amount %q", name, found, cells[1])
			continue
		}
		n, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := constant.Int64Val(constant.ToInt(value)); got != n*units[m[2]] {
			t.Errorf("%s is %s in the code, the page says %s", name, value, cells[1])
		}
	}
	return rows
}

// The tables of bounds and times have the numbers of the code, flags and metrics that there
// are, and every constant that bounds something shared.
func TestBoundsOfTheCode(t *testing.T) {
	known, source := constants(t), programSource(t)
	bounds, times := tableOf(t, "Bounds", known), tableOf(t, "Times and turns", known)
	for name, cells := range bounds {
		for _, flag := range quoted(cells[3]) {
			field := ""
			for word := range strings.SplitSeq(strings.TrimPrefix(flag, "--"), "-") {
				field += strings.ToUpper(word[:1]) + word[1:]
			}
			if !regexp.MustCompile(`\n\t` + field + `\s+\w`).MatchString(source) {
				t.Errorf("%s: there is no flag %s", name, flag)
			}
		}
		for _, metric := range quoted(cells[4]) {
			i := strings.LastIndex(metric, "_reads_") + len("_reads_")
			if !strings.Contains(source, `"`+metric+`"`) && !strings.Contains(source, `"`+metric[:i]+`"`) {
				t.Errorf("%s: there is no metric %s", name, metric)
			}
		}
	}
	listed := slices.Concat(slices.Collect(maps.Keys(bounds)), slices.Collect(maps.Keys(times)))
	for name := range known {
		_, constant, _ := strings.Cut(name, ".")
		if regexp.MustCompile(`^max[A-Z]`).MatchString(constant) && !slices.Contains(listed, name) && !slices.Contains(single, name) {
			t.Errorf("%s: a bound that docs/operating.md does not list, unless it belongs to single", name)
		}
	}
	for _, name := range single {
		if known[name] == nil || slices.Contains(listed, name) {
			t.Errorf("%s: no constant, or one of the table", name)
		}
	}
	if len(bounds) < 50 || len(times) < 50 {
		t.Errorf("only %d bounds and %d times were compared", len(bounds), len(times))
	}
}

// quoted returns what stands between backquotes.
func quoted(cell string) (all []string) {
	for i, part := range strings.Split(cell, "`") {
		if i%2 == 1 {
			all = append(all, part)
		}
	}
	return all
}

// programSource returns the text of the program.
func programSource(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, root := range []string{"internal", "cmd"} {
		if err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			b.Write(text)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}
