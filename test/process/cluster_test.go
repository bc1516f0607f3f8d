package process_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waymarkhq/waymark/internal/eventstore/clickhouse/clickhousetest"
)

// cluster is an installation of several machines: processes of each role behind nginx, on PostgreSQL,
// ClickHouse and S3.
type cluster struct {
	t                *testing.T
	database, events *gate
	address          string
	nodes            []*node
	// front is how the proxy is reached, and what else asks a server of the cluster.
	front *server
	kills atomic.Int64
}

// node is a process that starts again in the same place.
type node struct {
	*server
	args []string
	dir  string
}

// roles are those of the drill's processes.
var roles = []string{"api", "api", "redirect", "redirect", "redirect", "executor", "executor"}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t}
	c.database, c.address = behindGate(t, addressOf(t, "postgres"))
	through, images := "", startS3(t).address()
	c.events, through = behindGate(t, clickhousetest.Address(t))
	for _, role := range roles {
		dir := t.TempDir()
		c.nodes = append(c.nodes, &node{dir: dir, args: serveArgs(dir, c.address, "--roles", role, "--api-addr", unused(t),
			"--public-addr", unused(t), "--metrics-addr", unused(t), "--events", through, "--asset-store", images,
			"--trusted-proxies", "127.0.0.1", "--job-lease", "2s")})
	}
	for _, n := range c.nodes {
		c.start(n)
	}
	c.front = &server{child: c.nodes[0].child, dir: c.nodes[0].dir, database: c.address, api: unused(t), public: unused(t)}
	c.proxy()
	return c
}

func (c *cluster) start(n *node) {
	c.t.Helper()
	cmd := exec.Command(binary, n.args...)
	cmd.Env = environment(s3Keys...)
	n.server = started(c.t, cmd, n.dir, c.address)
}

// unused is an address at which nobody listens.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// proxy starts nginx as docs/proxies.md sets it up for several processes, but for its ports and for TLS.
func (c *cluster) proxy() {
	c.t.Helper()
	var api, public []string
	for i, n := range c.nodes {
		switch roles[i] {
		case "api":
			api = append(api, n.api)
		case "redirect":
			public = append(public, n.public)
		}
	}
	front := func(name, listen string, servers []string) string {
		return "upstream " + name + " { server " + strings.Join(servers, " max_fails=0; server ") + ` max_fails=0;
			keepalive 64; keepalive_timeout 20s; }
		server { listen ` + listen + `; location / { proxy_pass http://` + name + `; proxy_http_version 1.1; proxy_redirect off;
			proxy_next_upstream error timeout http_503;
			proxy_set_header Connection ""; proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr; } }
		`
	}
	dir := c.t.TempDir()
	config := filepath.Join(dir, "nginx.conf")
	write(c.t, config, strings.ReplaceAll(`daemon off; master_process off; pid DIR/pid; error_log stderr; events {}
		http { access_log off; client_body_temp_path DIR/a; proxy_temp_path DIR/b; fastcgi_temp_path DIR/c;
		uwsgi_temp_path DIR/d; scgi_temp_path DIR/e; keepalive_requests 1000000;
		`+front("api", c.front.api, api)+front("public", c.front.public, public)+"}\n", "DIR", dir))
	launch(c.t, exec.Command("/usr/sbin/nginx", "-e", "stderr", "-c", config))
	eventually(c.t, "nginx answers", func() error {
		conn, err := net.Dial("tcp", c.front.public)
		if err == nil {
			conn.Close()
		}
		return err
	})
}

// know waits until each redirector knows links.
func (c *cluster) know(slugs []string) {
	c.t.Helper()
	for i, n := range c.nodes {
		for _, slug := range slugs {
			if roles[i] == "redirect" {
				n.visitor(c.t).leadsTo(c.t, slug, slug+"-0")
			}
		}
	}
}

// loaded waits until the clicks of all redirectors are in the event store.
func (c *cluster) loaded() {
	c.t.Helper()
	for i, n := range c.nodes {
		if roles[i] == "redirect" {
			n.loaded()
		}
	}
}

// persistent creates links until ctx is done, as a client does: what was not answered, or not by Waymark, is sent again
// with its key. It returns the slugs that were answered.
func persistent(ctx context.Context, t *testing.T, o *owner, prefix string) (slugs []string) {
	for i := 0; ctx.Err() == nil; i++ {
		slug := fmt.Sprintf("%s-%d", prefix, i)
		creation := o.creation(slug, slug+"-0")
		for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			a, err := o.call(creation)
			if err == nil && a.status == http.StatusCreated {
				break
			}
			again := err != nil || a.status == http.StatusConflict && a.code() == "operation_in_progress" ||
				slices.Contains([]int{502, 503, 504}, a.status)
			if !again || time.Since(begun) > patience {
				t.Errorf("creation of %s: %v, %v", slug, a, err)
				return slugs
			}
		}
		slugs = append(slugs, slug)
		time.Sleep(100 * time.Millisecond) // what they do is looked at in one query
	}
	return slugs
}

// Two APIs, three redirectors and two executors behind a proxy are restarted in turn, lose their
// database and their event store, stand still and are killed, all under load: no visit of a known link fails, no
// click is lost, and nothing that was answered is lost or done twice.
//
// It runs alone: seven processes and a proxy would leave no time for tests beside it that have a minute.
func TestCluster(t *testing.T) {
	away, killing, killEvery := 5*time.Second, 15*time.Second, time.Second
	if soak {
		away, killing, killEvery = time.Minute, 5*time.Minute, 5*time.Second
	}
	c := newCluster(t)
	l := newLoad(t, c.front)
	c.know(l.fixed)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var visiting sync.WaitGroup
	l.visitors(ctx, c.front, 3, &visiting)
	visited := func(what string, during func()) {
		t.Helper()
		began, before := time.Now(), l.answered.Load()
		during()
		t.Logf("%s: %d visits redirected in %s", what, l.answered.Load()-before, time.Since(began).Round(time.Millisecond))
		if l.answered.Load() == before {
			t.Errorf("%s: nobody was redirected", what)
		}
	}

	visited("restarts in turn", func() {
		writing, ended := context.WithCancel(ctx)
		var wg sync.WaitGroup
		l.writers(writing, 0, 1, &wg)
		for _, n := range c.nodes {
			n.terminate()
			c.start(n)
		}
		ended()
		wg.Wait()
	})
	visited("the database is away", func() {
		c.database.shut()
		time.Sleep(away)
		c.database.open()
		eventually(t, "the API answers again", func() error {
			if a, err := l.owner.call(intent{method: "GET", path: "/me"}); err != nil || a.status != 200 {
				return fmt.Errorf("%v, %w", a, err)
			}
			return nil
		})
	})
	visited("the event store is away", func() {
		c.events.shut()
		time.Sleep(away)
		c.events.open()
	})
	visited("an executor stands still", func() {
		frozen := c.nodes[slices.Index(roles, "executor")]
		frozen.signal(syscall.SIGSTOP)
		l.owner.create(t, "frozen")
		c.know([]string{"frozen"})
		frozen.signal(syscall.SIGCONT)
	})
	var slugs []string
	visited("processes are killed", func() {
		creating, ended := context.WithCancel(ctx)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for w := range 2 {
			wg.Go(func() {
				made := persistent(creating, t, l.owner, fmt.Sprintf("killed-%d", w))
				mu.Lock()
				defer mu.Unlock()
				slugs = append(slugs, made...)
			})
		}
		for began := time.Now(); time.Since(began) < killing; c.kills.Add(1) {
			time.Sleep(killEvery)
			n := c.nodes[rand.N(len(c.nodes))]
			n.kill()
			c.start(n)
		}
		ended()
		wg.Wait()
	})
	stop()
	visiting.Wait()

	db := open(t, "", c.address).Long()
	l.fixed = append(append(l.fixed, "frozen"), slugs...) // which verify knows by their number
	l.verify(t, db)
	for slug, s := range inventory(t, db) {
		if slices.Contains(slugs, slug) && (s.title != slug+"-0" || s.audits != 1 || s.created != 1 || s.delivered != 1) {
			t.Errorf("%s: %q, %d audit events, %d in the history, %d deliveries; want one each", slug, s.title, s.audits, s.created,
				s.delivered)
		}
	}
	l.published(t, c.front, db)
	c.loaded()
	// The proxy sends a visit again that a killed process may have counted.
	n, answered, again := l.owner.clicks(t), int(l.answered.Load()), 3*int(c.kills.Load())
	t.Logf("%d links made while %d processes were killed; %d visits redirected, %d counted; %d were told to come again", len(slugs),
		c.kills.Load(), answered, n, l.away.Load())
	if n < answered || n > answered+again || l.away.Load() > 0 || len(slugs) == 0 {
		t.Errorf("%d clicks are counted, want %d to %d", n, answered, answered+again)
	}
	for _, n := range c.nodes {
		n.terminate()
	}
	for i, n := range c.nodes {
		if roles[i] == "redirect" {
			clicksGone(t, n.dir)
		}
	}
}
