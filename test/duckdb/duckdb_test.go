package duckdb

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/enginetest"
	"github.com/waymarkhq/waymark/internal/eventstore/segments"
	"github.com/waymarkhq/waymark/internal/store/storetest"
	"github.com/waymarkhq/waymark/internal/turns"
	"github.com/waymarkhq/waymark/test/program"
)

// world is an installation whose events all lie in files.
type world struct {
	*testing.T
	dir    string
	engine *segments.Engine
	// start and end are around the events.
	start, end clock.Instant
}

// newWorld appends events of two apps of some days a month ago, and seals them.
func newWorld(t *testing.T) *world {
	if out, err := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund").CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	w := &world{T: t, dir: t.TempDir()}
	c := &clock.Clock{}
	c.Set(c.Now().Add(-48 * time.Hour))
	db := storetest.Open(t, "sqlite:"+filepath.Join(w.dir, "waymark.db"), c)
	files, err := blob.Open("file", w.dir, blob.Segments(0))
	if err != nil {
		t.Fatal(err)
	}
	w.engine = segments.Open(segments.Options{DB: db, Files: files, Dir: w.dir, Turns: turns.New(1),
		Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { w.engine.Close() })
	w.start = clock.At(db.Now().Time().AddDate(0, -1, 0).Truncate(24 * time.Hour))
	for i, app := range []string{"first", "second"} {
		traffic := enginetest.NewTraffic(uint64(i), app, w.start)
		traffic.Days, traffic.Visitors = 4, 3000
		w.end = max(w.end, w.start.Add(4*24*time.Hour))
		if err := w.engine.Append(t.Context(), enginetest.Batch(traffic.Events(20_000)...)); err != nil {
			t.Fatal(err)
		}
	}
	c.Move(48 * time.Hour)
	for done := true; done; {
		if done, err = w.engine.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := segments.ReadStatus(t.Context(), db); err != nil || s.Young.Events != 0 || s.Sealed.Events != 40_000 {
		t.Fatalf("not all events are sealed: %+v, %v", s, err)
	}
	return w
}

// count asks the engine.
func (w *world) count(q eventstore.Query) []eventstore.Row {
	w.Helper()
	q.Start, q.End = w.start, w.end
	rows, err := eventstore.Count(w.Context(), w.engine, q)
	if err != nil {
		w.Fatal(err)
	}
	return rows
}

// example returns an example of docs/event-files.md, by words in it, on a file.
func (w *world) example(words, read, instead string) string {
	w.Helper()
	page, err := os.ReadFile("../../docs/event-files.md")
	if err != nil {
		w.Fatal(err)
	}
	for _, block := range strings.Split(string(page), "```sql\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		if strings.Contains(text, words) && strings.Contains(text, read) {
			return strings.ReplaceAll(text, read, instead)
		}
	}
	w.Fatalf("docs/event-files.md has no example with %q and %q", words, read)
	return ""
}

// ask asks DuckDB; numbers become text.
func (w *world) ask(sql string) (rows []map[string]string) {
	w.Helper()
	c := exec.Command("node", "query.mjs", sql)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		w.Fatalf("%v\n%s", err, sql)
	}
	var values []map[string]any
	if err := json.Unmarshal(out, &values); err != nil {
		w.Fatal(err)
	}
	for _, row := range values {
		texts := map[string]string{}
		for name, v := range row {
			texts[name] = fmt.Sprint(v)
		}
		rows = append(rows, texts)
	}
	return rows
}

// DuckDB reads the files of the segment store, and finds what the engine counts.
func TestSegments(t *testing.T) {
	w := newWorld(t)
	sql := w.example("app, country, count(*)", "/var/lib/waymark", w.dir)
	got, want := map[string]string{}, map[string]string{}
	for _, row := range w.ask(strings.Replace(sql, "LIMIT 20", "", 1)) {
		got[row["app"]+" "+row["country"]] = row["clicks"]
	}
	for i, app := range []string{"first", "second"} {
		q := eventstore.Query{Filter: eventstore.Filter{AppID: app},
			Grouping: eventstore.Grouping{By: eventstore.ByCountry, Clicked: true}}
		for _, row := range w.count(q) {
			want[fmt.Sprint(i+1, " ", row.Value)] = fmt.Sprint(row.Clicks)
		}
	}
	if len(want) < 4 || !reflect.DeepEqual(got, want) {
		t.Errorf("DuckDB finds %v, the engine %v", got, want)
	}
	// Each column has the type that the page tells.
	types := map[string]string{}
	for _, row := range w.ask("DESCRIBE SELECT * FROM read_parquet('" + w.dir + "/events/*.parquet')") {
		types[row["column_name"]] = row["column_type"]
	}
	number, text := "BIGINT", "VARCHAR"
	if want := map[string]string{"app": number, "occurred_at": "TIMESTAMP WITH TIME ZONE", "id": "BLOB", "type": text, "link": number,
		"visitor": number, "install": number, "device": text, "os": text, "browser": text, "source": text, "country": text,
		"referrer": text, "rule": text, "destination": text}; !reflect.DeepEqual(types, want) {
		t.Errorf("columns %v, want %v", types, want)
	}
}

// DuckDB reads an exported file, and finds what the engine counts by day.
func TestExport(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "out.parquet")
	binary, err := program.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// A day less at each end than there is.
	const day = 24 * time.Hour
	w.start, w.end = w.start.Add(day), w.end.Add(-day)
	out, err := exec.Command(binary, "events", "export", "--data-dir", w.dir, "--app", "first", "--start",
		w.start.String(), "--end", w.end.String(), "--parquet", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all := int64(0)
	for _, device := range []string{"", "bot"} {
		all += w.count(eventstore.Query{Filter: eventstore.Filter{AppID: "first", Device: device}})[0].Events
	}
	if words := fmt.Sprintf("wrote %d events", all); !strings.Contains(string(out), words) {
		t.Errorf("%s; want %s", out, words)
	}
	var got, want []string
	for _, row := range w.ask(w.example("identified", "november.parquet", file)) {
		got = append(got, row["clicks"]+" "+row["visitors"]+" "+row["identified"])
	}
	q := eventstore.Query{Filter: eventstore.Filter{AppID: "first"},
		Grouping: eventstore.Grouping{By: eventstore.Time, Visitors: true}}
	for at := w.start; at <= w.end; at = at.Add(day) {
		q.Bounds = append(q.Bounds, at)
	}
	for _, row := range w.count(q) {
		want = append(want, fmt.Sprint(row.Clicks, " ", row.UniqueVisitors, " ", row.IdentifiedClicks))
	}
	if len(want) != 2 || !reflect.DeepEqual(got, want) {
		t.Errorf("DuckDB finds %v, the engine %v", got, want)
	}
	// Tags are a list, and what an event does not have is null.
	tagged := w.count(eventstore.Query{Filter: eventstore.Filter{AppID: "first", TagID: "tag1"}})[0].Events
	without := int64(0)
	for _, row := range w.count(eventstore.Query{Filter: eventstore.Filter{AppID: "first"},
		Grouping: eventstore.Grouping{By: eventstore.ByCampaign}}) {
		if row.Value == "" {
			without = row.Events
		}
	}
	found := w.ask("SELECT count(*) FILTER (list_contains(tag_ids, 'tag1')) AS tagged, count(*) FILTER (campaign_id IS NULL) " +
		"AS without FROM '" + file + "' WHERE device <> 'bot'")
	if want := []map[string]string{{"tagged": fmt.Sprint(tagged), "without": fmt.Sprint(without)}}; tagged == 0 ||
		without == 0 || !reflect.DeepEqual(found, want) {
		t.Errorf("DuckDB finds %v, the engine %v", found, want)
	}
}
