package cli

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/waymarkhq/waymark/internal/csvtable"
)

type importCommand struct {
	ofApp
	File       string `arg:"" help:"CSV or JSON file with links, of any size."`
	From       string `help:"Product that the file is from: bitly, short.io, rebrandly, shlink, kutt, yourls, firebase, legacy or waymark; default: the product whose columns the file has." placeholder:"PRODUCT"`
	Mapping    string `help:"JSON file that names the field of each column, for other files." placeholder:"FILE"`
	Domain     string `help:"Put all links on this domain; default: the domain that the file names." placeholder:"HOSTNAME"`
	HTTPS      bool   `name:"https" help:"Write destinations with http as https: links lead to https alone."`
	DryRun     bool   `help:"Try all rows, without making a link."`
	Yes        bool   `short:"y" help:"Do not ask before links are made."`
	SideBySide int    `default:"4" help:"How many parts of 50 rows are under way at once, at most 64; default: ${default}." placeholder:"NUMBER"`
	Report     string `help:"CSV file to write, with what became of each row; default: FILE.report.csv." placeholder:"FILE"`
}

// maxSideBySide bounds the parts that are under way at once.
const maxSideBySide = 64

// newDigest makes digests of imports.
func newDigest() hash.Hash { return sha256.New() }

// Run tries the rows, asks, makes the links, and writes one report. The exit code is 1 unless every
// row became a link (with --dry-run: could become one).
func (i *importCommand) Run(ctx context.Context) error {
	c, p, err := i.open()
	if err != nil {
		return err
	}
	c.Patience = longPatience
	if i.SideBySide < 1 || i.SideBySide > maxSideBySide {
		return usage(fmt.Sprintf("--side-by-side is 1 to %d", maxSideBySide))
	}
	if info, err := os.Stat(filepath.Dir(i.report())); err != nil || !info.IsDir() {
		return usage(fmt.Sprintf("--report %s: there is no folder %s", i.report(), filepath.Dir(i.report())))
	}
	content, err := readBounded(i.File, maxFile)
	if err != nil {
		return err
	}
	file, err := readLinks(i.File, content)
	if err != nil {
		return err
	}
	m, product, err := i.mapping(file)
	if err != nil {
		return err
	}
	parts, tooLarge := file.parts(m, i.HTTPS)
	name := i.File + ".import"
	j, resumed, err := openJournal(name, digestOf(content, p.Server, p.App, asText(m), fmt.Sprint(i.HTTPS)))
	if err != nil {
		return err
	}
	run := &importRun{api: c, app: p.App, format: file.format, mapping: m, parts: parts, journal: j, sideBySide: i.SideBySide,
		progress: progress}
	tell("%s: %s%s, to %s", i.File, count(len(file.rows), "row"), product, p.Server)
	if resumed {
		tell("it goes on where it was left: %s", name)
	}
	end, err := i.stages(ctx, run, tooLarge, len(file.rows))
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = interrupted("stopped: run the same command again, and it goes on")
		}
		return errors.Join(err, j.leave())
	}
	if end.left > 0 {
		err = j.leave()
	} else {
		err = j.end()
	}
	return errors.Join(err, end.failure(i.report()))
}

// mapping returns the mapping of the file, and where it is from, for a person.
func (i *importCommand) mapping(file *linkFile) (m mapping, product string, err error) {
	if i.Mapping != "" {
		content, err := readBounded(i.Mapping, maxBody)
		if err == nil {
			err = json.Unmarshal(content, &m)
		}
		if err != nil {
			return nil, "", fmt.Errorf("read the mapping %s: %w", i.Mapping, err)
		}
		if missing := m.missing(file.columns); len(missing) > 0 {
			return nil, "", usage(fmt.Sprintf("%s has no column %s, which the mapping names; it has %s", i.File,
				strings.Join(missing, ", "), strings.Join(file.columns, ", ")))
		}
	} else if m, product, err = chooseMapping(i.From, file.columns); err != nil {
		return nil, "", err
	} else {
		product = " of " + product
	}
	if i.Domain != "" {
		m = m.onDomain(i.Domain)
	}
	return m, product, nil
}

// digestOf tells one import from another.
func digestOf(content []byte, options ...string) string {
	d := newDigest()
	d.Write(content)
	for _, option := range options {
		fmt.Fprintf(d, "\n%q", option)
	}
	return fmt.Sprintf("%x", d.Sum(nil))
}

// stages tries the rows, asks, and makes the links; it writes the report at the end of each.
func (i *importCommand) stages(ctx context.Context, run *importRun, tooLarge []int, rows int) (end summary, err error) {
	full, err := false, run.leaveRoom(ctx)
	if err == nil {
		full, err = run.try(ctx)
	}
	if err != nil {
		return end, err
	}
	if end, err = i.summarize(run, tooLarge, rows); err != nil {
		return end, err
	}
	tell("%d of %d rows can become links, %d cannot%s", end.valid, rows, end.invalid, map[bool]string{
		true: fmt.Sprintf("; %d are not tried yet, as an app keeps few imports that are only tried", end.untried)}[full])
	end.show()
	if i.DryRun {
		end.dry = true
		return end, nil
	}
	if end.left == 0 {
		return end, nil
	}
	if err := i.agreed(ctx, end.left); err != nil {
		return end, err
	}
	if err := run.commit(ctx); err != nil {
		return end, err
	}
	if end, err = i.summarize(run, tooLarge, rows); err != nil {
		return end, err
	}
	tell("%d of %d rows became links, %d did not; the report is %s", end.made, rows, rows-end.made, i.report())
	end.show()
	return end, nil
}

// agreed asks whether links shall be made. Without a yes it returns an error.
func (i *importCommand) agreed(ctx context.Context, rows int) error {
	if i.Yes {
		return nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return usage("no link was made, as nobody can be asked here: run the same command with --yes")
	}
	fmt.Fprintf(os.Stderr, "Import %s? [y/N] ", count(rows, "row"))
	answer, err := untilInterrupted(ctx, func() (string, error) { return bufio.NewReader(os.Stdin).ReadString('\n') })
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return errors.New("no link was made")
	}
	return nil
}

// summary counts what became of the rows.
type summary struct {
	rows, valid, invalid, untried, made int
	// left are rows that can still become links.
	left    int
	dry     bool
	trouble []reportItem
}

// summarize counts the rows, and writes the report.
func (i *importCommand) summarize(run *importRun, tooLarge []int, rows int) (s summary, err error) {
	s.rows = rows
	var all []reportItem
	for _, row := range tooLarge {
		all = append(all, reportItem{Row: row, State: "invalid", Code: "too_large",
			Message: fmt.Sprintf("the row is larger than an import takes (%d bytes)", partBytes)})
	}
	for n, p := range run.parts {
		state := run.journal.part(n)
		switch {
		case state.ID == "":
			s.untried += len(p.rows)
			s.left += len(p.rows)
		case !state.over():
			s.valid += len(p.rows) - state.Invalid
			s.left += len(p.rows) - state.Invalid
		}
		all = append(all, state.Items...)
	}
	slices.SortFunc(all, func(a, b reportItem) int { return a.Row - b.Row })
	cells := make([][]string, len(all))
	for n, item := range all {
		cells[n] = []string{strconv.Itoa(item.Row), item.State, item.Address, item.LinkID, item.Code, item.Message}
		switch item.State {
		case "succeeded":
			s.made++
			s.valid++
			continue
		case "invalid":
			s.invalid++
		default:
			s.valid++ // it was tried and failed, or was cancelled
		}
		s.trouble = append(s.trouble, item)
	}
	report := csvtable.Write([]string{"row", "state", "address", "linkId", "errorCode", "errorMessage"}, cells)
	return s, replaceFile(i.report(), []byte(report))
}

func (i *importCommand) report() string {
	if i.Report != "" {
		return i.Report
	}
	return i.File + ".report.csv"
}

// The bounds of what is told at once of rows that are no links; the report has all of them.
const (
	shownReasons = 10
	shownRows    = 5
)

// show tells which rows are not fit, by the reason.
func (s *summary) show() {
	var reasons []string
	rows := map[string][]string{}
	for _, item := range s.trouble {
		if rows[item.Message] == nil {
			reasons = append(reasons, item.Message)
		}
		rows[item.Message] = append(rows[item.Message], strconv.Itoa(item.Row))
	}
	for _, reason := range reasons[:min(len(reasons), shownReasons)] {
		named, more := rows[reason], ""
		if len(named) > shownRows {
			named, more = named[:shownRows], fmt.Sprintf(" and %d more", len(named)-shownRows)
		}
		tell("  %s %s%s: %s", plural(len(rows[reason]), "row"), strings.Join(named, ", "), more, reason)
	}
	if more := len(reasons) - shownReasons; more > 0 {
		tell("  and %s, which the report names", count(more, "more reason"))
	}
}

// failure is nil when every row became a link, or could.
func (s *summary) failure(report string) error {
	switch {
	case s.dry && s.invalid > 0:
		return fmt.Errorf("%d of %d rows cannot become links: see %s", s.invalid, s.rows, report)
	case s.dry && s.untried > 0:
		return fmt.Errorf("%d of %d rows were not tried: try a file with only those, or import this one", s.untried, s.rows)
	case !s.dry && s.left == 0 && s.made < s.rows:
		return fmt.Errorf("%d of %d rows did not become links: see %s", s.rows-s.made, s.rows, report)
	}
	return nil
}

// tellEvery is how often a log is told how far an import is.
const tellEvery = 30 * time.Second

// progress returns a function that is told of rows, and shows how far they are, how quickly they
// come, and how long the rest takes. Without a terminal it writes a line now and then.
func progress(what string, rows int) func(int) {
	if rows == 0 {
		return func(int) {}
	}
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		var mu sync.Mutex
		done, told := 0, time.Now()
		return func(n int) {
			mu.Lock()
			defer mu.Unlock()
			if done += n; time.Since(told) >= tellEvery {
				tell("%s: %d of %s", what, done, count(rows, "row"))
				told = time.Now()
			}
		}
	}
	bar := progressbar.NewOptions(rows, progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("rows"), progressbar.OptionSetPredictTime(true),
		progressbar.OptionFullWidth(), progressbar.OptionSetWriter(os.Stderr),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(os.Stderr) }))
	return func(n int) {
		if err := bar.Add(n); err != nil {
			tell("%v", err)
		}
	}
}
