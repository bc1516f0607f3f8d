package main

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/internal/assembly"
	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse/clickhousetest"
)

// period is the longest that analytics answers about.
const period = 366 * 24 * time.Hour

// question is an operation of analytics and what DuckDB is asked for the same answer,
// with %s for the conditions; it has none where DuckDB knows no such thing.
type question struct {
	name, path, sql string // %s in path is a campaign
	// visitors tells that visitors are counted, which is what takes long.
	visitors bool
}

// at returns the path that a question is asked at about an app.
func (q *question) at(app, campaign string, start, end clock.Instant) string {
	return "/analytics/" + strings.Replace(q.path, "%s", campaign, 1) +
		url.Values{"appId": {app}, "start": {start.String()}, "end": {end.String()}}.Encode()
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

// analytics measures the operations of analytics over many events of one app: the
// default engine beside DuckDB on the same files, and then the other engines.
func (b *bench) analytics() error {
	data := b.data
	defer func() { b.data = data }()
	for _, size := range strings.Split(*eventSizes, ",") {
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return fmt.Errorf("-events: %w", err)
		}
		b.data = filepath.Join(b.dir, "events-"+size)
		if err := b.analyticsOf(assembly.EngineSettings{Address: assembly.Segments}, n); err != nil {
			return err
		}
	}
	if *otherEvents == 0 {
		return nil
	}
	b.data = filepath.Join(b.dir, "events-database")
	if err := b.analyticsOf(assembly.EngineSettings{Address: assembly.Database}, *otherEvents); err != nil {
		return err
	}
	private, err := clickhousetest.Start()
	if err != nil {
		return err
	}
	defer private.Stop()
	b.data = filepath.Join(b.dir, "events-clickhouse")
	return b.analyticsOf(assembly.EngineSettings{Address: private.Address("bench")}, *otherEvents)
}

// analyticsOf measures an engine with so many events.
func (b *bench) analyticsOf(engine assembly.EngineSettings, n int64) error {
	kind, err := engine.Kind()
	if err != nil {
		return err
	}
	s, c, err := b.prepared("events", "--events", engine.Address)
	if err != nil {
		return err
	}
	var campaign created
	err = c.call("POST", "/campaigns", map[string]any{"appId": c.app, "name": "Benchmark"}, &campaign)
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	end := clock.At(time.Now().UTC().Truncate(24 * time.Hour))
	app, err := b.fill(engine, kind, newTraffic(n, end, linksOf(c, campaign.Data.ID)), n)
	if err != nil {
		return err
	}
	if s, err = b.serve("--events", engine.Address); err != nil {
		return err
	}
	defer s.stop()
	c.api = s.api + "/v1"
	idle := s.memory("VmRSS")
	var duck *duckDB
	if kind == assembly.Segments {
		if duck, err = b.startDuckDB(filepath.Join(b.data, "events")); err != nil {
			return err
		}
	}
	start := end.Add(-period)
	where := fmt.Sprintf("app = %d AND occurred_at >= '%s' AND occurred_at < '%s' AND device <> 'bot'", app, sqlTime(start),
		sqlTime(end))
	began := time.Now()
	first := questions[0].at(c.app, "", start, end)
	if err := c.call("GET", first, nil, nil); err != nil && !strings.Contains(err.Error(), ": 503 ") {
		return err
	}
	b.add(kind+": the first question after a start, ms", "%.0f", time.Since(began).Seconds()*1e3, 0,
		"files are checked when they are opened")
	for _, filter := range []struct{ name, query, sql string }{
		{"", "", ""}, {", of a country", "&country=DE", " AND country = 'DE'"},
	} {
		for _, q := range questions {
			what := fmt.Sprintf("%s: %s%s over %d events, ms", kind, q.name, filter.name, n/2)
			path := q.at(c.app, campaign.Data.ID, start, end) + filter.query
			if err := b.ask(s, c, duck, q, what, path, where+filter.sql); err != nil {
				return err
			}
		}
	}
	b.add("  memory more than idle, MiB", "%.1f", s.memory("VmHWM")-idle, 128, "VmHWM after all of these")
	if err := b.fairness(s, c, kind, campaign.Data.ID); err != nil {
		return err
	}
	return s.stop()
}

func sqlTime(at clock.Instant) string { return at.Time().Format("2006-01-02 15:04:05") }

// ask asks a server a question, and DuckDB in turns with it.
func (b *bench) ask(s *server, c *client, duck *duckDB, q question, what, path, where string) error {
	var ours, theirs []float64
	cpu := s.cpu()
	asked := 0
	for began := time.Now(); asked < 3**rounds && (asked < 1 || time.Since(began) < patience/2); asked++ {
		started := time.Now()
		if err := c.call("GET", path, nil, nil); err != nil {
			if strings.Contains(err.Error(), ": 503 ") { // the deadline of a question is ten seconds
				b.add(what, "%.0f", 10_000, 200, "over the deadline")
				return nil
			}
			return err
		}
		ours = append(ours, time.Since(started).Seconds()*1e3)
		if q.sql == "" || duck == nil {
			continue
		}
		ms, err := duck.ask(strings.ReplaceAll(fmt.Sprintf(q.sql, where), "\n", " "))
		if err != nil {
			return err
		}
		theirs = append(theirs, ms)
	}
	b.add(what, "%.1f", median(ours), 200, fmt.Sprintf("median of %d; CPU %.0f", asked, per(s.cpu()-cpu, asked)/1e3))
	if len(theirs) > 0 {
		aim := 1.0
		if q.visitors {
			aim = 0.5
		}
		b.add("  to DuckDB with one thread on the same files", "%.2f", median(ours)/median(theirs), aim,
			fmt.Sprintf("DuckDB %.1f ms", median(theirs)))
	}
	return nil
}
