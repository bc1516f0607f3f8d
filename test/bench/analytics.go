package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/blob"
	"github.com/waymarkhq/waymark/internal/clicklog"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore"
	"github.com/waymarkhq/waymark/internal/eventstore/segments"
	"github.com/waymarkhq/waymark/internal/store"
)

// loadSize is how many events a loader brings at once under load.
const loadSize = 2048

// question is an operation of analytics and what DuckDB is asked for the same answer,
// with %s for the conditions; it has none where DuckDB knows no such thing.
type question struct {
	name, path, sql string
	// visitors tells that visitors are counted, which is what takes long.
	visitors bool
}

const perType = `count(*) FILTER (type = 'click') AS clicks, count(*) FILTER (type = 'click' AND install <> 0) AS identified,
	count(*) FILTER (type = 'app_open') AS opens, count(*) FILTER (type = 'content_view') AS seen,
	count(*) FILTER (type = 'legacy_content_load') AS loads`

const withVisitors = perType + `, count(DISTINCT CASE WHEN type = 'click' THEN visitor END) AS visitors`

var questions = []question{
	{"summary", "summary?", `SELECT ` + withVisitors + `, min(occurred_at), max(occurred_at),
		count(DISTINCT CASE WHEN type = 'click' THEN link END) FROM events WHERE %s`, true},
	{"timeseries", "timeseries?granularity=day&", `SELECT date_trunc('day', occurred_at) AS day, ` + withVisitors +
		` FROM events WHERE %s GROUP BY 1 ORDER BY 1`, true},
	{"breakdown by country", "breakdown?dimension=country&", `SELECT country, ` + withVisitors +
		` FROM events WHERE %s GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 51`, true},
	{"breakdown by referrer", "breakdown?dimension=referrer&", `SELECT referrer, ` + withVisitors +
		` FROM events WHERE %s GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 51`, true},
	{"top-links", "top-links?", `SELECT link, count(*) clicks, count(DISTINCT visitor), max(occurred_at) FROM events
		WHERE %s AND type = 'click' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 51`, true},
	{"events", "events?", `SELECT * FROM events WHERE %s ORDER BY occurred_at DESC, id DESC LIMIT 51`, false},
	{"native", "native?", `SELECT date_trunc('day', occurred_at) AS day, device, count(*) FILTER (type = 'app_open'),
		count(*) FILTER (type = 'content_view'), count(*) FILTER (type = 'legacy_content_load') FROM events
		WHERE %s GROUP BY 1, 2 ORDER BY 1, 2`, false},
	{"recovery", "recovery?", `SELECT date_trunc('day', occurred_at) AS day, count(*) FILTER (type = 'recovery_created'),
		count(*) FILTER (type = 'recovery_matched') FROM events WHERE %s GROUP BY 1 ORDER BY 1`, false},
	{"campaign", "campaigns/%s?", "", true},
}

// analytics measures the operations of analytics over many events of one app, beside
// DuckDB on the same files.
func (b *bench) analytics() error {
	data := b.data
	defer func() { b.data = data }()
	for _, size := range strings.Split(*eventSizes, ",") {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return fmt.Errorf("-events: %w", err)
		}
		b.data = filepath.Join(b.dir, "events-"+size)
		if err := b.analyticsOf(n); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) analyticsOf(n int64) error {
	s, c, err := b.prepared("events")
	if err != nil {
		return err
	}
	var campaign created
	err = c.call("POST", "/campaigns", map[string]any{"appId": c.app, "name": "Benchmark"}, &campaign)
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	until := clock.At(time.Now().UTC().Truncate(24 * time.Hour))
	app, err := b.fill(n, until, c, campaign.Data.ID)
	if err != nil {
		return err
	}
	s, err = b.serve()
	if err != nil {
		return err
	}
	defer s.stop()
	c.api = s.api + "/v1"
	idle := s.memory("VmRSS")
	duck, err := b.startDuckDB(filepath.Join(b.data, "events"))
	if err != nil {
		return err
	}
	from := until.Add(-366 * 24 * time.Hour)
	period := url.Values{"appId": {c.app}, "start": {from.String()}, "end": {until.String()}}
	where := fmt.Sprintf("app = %d AND occurred_at >= '%s' AND occurred_at < '%s' AND device <> 'bot'", app, sqlTime(from), sqlTime(until))
	var heavy []string
	for _, filter := range []struct{ name, query, sql string }{
		{"", "", ""}, {", of a country", "&country=DE", " AND country = 'DE'"},
	} {
		for _, q := range questions {
			path := "/analytics/" + strings.Replace(q.path, "%s", campaign.Data.ID, 1) + period.Encode() + filter.query
			if filter.name == "" {
				heavy = append(heavy, path)
			}
			sql := ""
			if q.sql != "" {
				sql = strings.ReplaceAll(fmt.Sprintf(q.sql, where+filter.sql), "\n", " ")
			}
			if err := b.ask(s, c, duck, fmt.Sprintf("%s%s over %d events, ms", q.name, filter.name, n/2), path, sql,
				q.visitors); err != nil {
				return err
			}
		}
	}
	b.add("  memory more than idle, MiB", "%.1f", s.memory("VmHWM")-idle, 128, "VmHWM after all of these")
	if err := b.fairness(s, c, heavy); err != nil {
		return err
	}
	return s.stop()
}

func sqlTime(at clock.Instant) string { return at.Time().UTC().Format("2006-01-02 15:04:05") }

// ask puts a question to both, in turns.
func (b *bench) ask(s *server, c *client, duck *duckDB, what, path, sql string, visitors bool) error {
	var ours, cost, theirs []float64
	for range max(*rounds, 3) * 3 {
		cpu, started := s.cpu(), time.Now()
		if err := c.call("GET", path, nil, nil); err != nil {
			return err
		}
		ours = append(ours, time.Since(started).Seconds()*1e3)
		cost = append(cost, (s.cpu()-cpu).Seconds()*1e3)
		if sql == "" || duck == nil {
			continue
		}
		ms, err := duck.ask(sql)
		if err != nil {
			return err
		}
		theirs = append(theirs, ms)
	}
	b.add(what, "%.1f", median(ours), 200, fmt.Sprintf("median; CPU %.0f", mean(cost)))
	if len(theirs) > 0 {
		aim := 1.0
		if visitors {
			aim = 0.5
		}
		b.add("  to DuckDB with one thread on the same files", "%.2f", median(ours)/median(theirs), aim,
			fmt.Sprintf("DuckDB %.1f ms", median(theirs)))
	}
	return nil
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// fill appends events to a stopped installation, as its loader would, and has them
// merged as they would be by then. It returns the number of the large app.
func (b *bench) fill(n int64, until clock.Instant, c *client, campaign string) (app int64, err error) {
	ctx := context.Background()
	db, err := store.Open(ctx, "sqlite:"+filepath.Join(b.data, "waymark.db"), &clock.Clock{})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	files, err := blob.Open("file", b.data, blob.Segments(0))
	if err != nil {
		return 0, err
	}
	e := segments.Open(segments.Options{DB: db, Files: files, Dir: b.data, Turns: eventstore.NewTurns(1),
		Log: slog.New(slog.DiscardHandler)})
	defer e.Close()
	links := make([]clicklog.Link, appLinks)
	for i := range links {
		links[i] = clicklog.Link{ID: fmt.Sprintf("%s:0198b3d2-6f0e-7c3a-9a51-%012x", c.domain, i), AppID: c.app,
			Hostname: c.domain, Slug: fmt.Sprint("slug-", i), Group: "main"}
		if i%7 == 0 {
			links[i].CampaignID = campaign
		}
	}
	traffic := newTraffic(n, until, links)
	var appending, merging float64
	for i := 0; traffic.done < n; i++ {
		batch := traffic.batch(int(min(loadSize, n-traffic.done)))
		cpu := ownTime()
		if err := e.Append(ctx, batch); err != nil {
			return 0, err
		}
		appended := ownTime()
		appending += (appended - cpu).Seconds()
		if i%16 == 0 || traffic.done == n {
			for more := true; more; {
				if more, err = e.Step(ctx); err != nil {
					return 0, err
				}
			}
		}
		merging += (ownTime() - appended).Seconds()
	}
	b.add(fmt.Sprintf("loading of %d events, CPU µs each", n), "%.2f", appending/float64(n)*1e6, 0,
		"in batches of 2,048, SQLite")
	b.add("  merging and sealing, CPU µs each", "%.2f", merging/float64(n)*1e6, 30, "3 % of a processor at 1,000 a second")
	size, err := bytesIn(filepath.Join(b.data, "events"))
	if err != nil {
		return 0, err
	}
	sealed, err := store.One(ctx, db, store.Value[int64], "SELECT COALESCE(sum(events), 0) FROM event_segment WHERE data IS NULL")
	if err != nil {
		return 0, err
	}
	b.add("  sealed, bytes each", "%.1f", float64(size)/float64(sealed), 28, fmt.Sprintf("%d sealed events", sealed))
	return store.One(ctx, db, store.Value[int64], "SELECT no FROM event_app WHERE app_id = ?", c.app)
}

// ownTime is the processor time of this process.
func ownTime() time.Duration { return processTime(os.Getpid()) }

func bytesIn(dir string) (sum int64, err error) {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && strings.HasSuffix(entry.Name(), ".parquet") {
			sum += info.Size()
		}
	}
	return sum, err
}

// duckDB is a process that answers SQL with the milliseconds that it took.
type duckDB struct {
	*child
	in  io.Writer
	out *bufio.Reader
}

// startDuckDB returns nil when it is not installed.
func (b *bench) startDuckDB(dir string) (*duckDB, error) {
	if _, err := os.Stat("test/duckdb/node_modules"); err != nil {
		return nil, nil
	}
	cmd := exec.Command("node", "test/bench/duckdb.mjs", filepath.Join(dir, "*.parquet"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c, err := b.start(cmd)
	return &duckDB{c, in, bufio.NewReader(out)}, err
}

func (d *duckDB) ask(sql string) (ms float64, err error) {
	if _, err := fmt.Fprintln(d.in, sql); err != nil {
		return 0, err
	}
	line, err := d.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("DuckDB: %w", err)
	}
	return strconv.ParseFloat(strings.TrimSpace(line), 64)
}
