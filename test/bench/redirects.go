package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const userAgent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 " +
	"Safari/537.36"

// bare is the child process that answers with nothing but net/http: its
// arguments are the header fields of the answer, name and value in turn.
func bare(header []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	err = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for i := 0; i < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		w.WriteHeader(http.StatusFound)
	}))
	panic(err)
}

func (b *bench) startBare(header http.Header) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"bare"}
	for name, values := range header {
		if name != "Date" && name != "Content-Length" { // net/http writes these
			args = append(args, name, values[0])
		}
	}
	cmd := exec.Command(program, args...)
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c, err := b.start(cmd)
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	c.address = strings.TrimSpace(line)
	return c, err
}

// nginxConfig answers one link of a map, as one would without Waymark.
const nginxConfig = `daemon off; master_process off; worker_processes 1;
pid %[1]s/nginx.pid; error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  map $uri $target { default ""; %[3]s "%[4]s"; }
  server {
    listen %[2]s; server_name %[5]s;
    add_header Cache-Control "private, no-store"; add_header Referrer-Policy "no-referrer-when-downgrade";
    location / { return 302 $target; }
  }
}
`

// startNginx returns nil when nginx is not installed.
func (b *bench) startNginx(path, target string) (*child, error) {
	program, err := exec.LookPath("nginx")
	if err != nil {
		return nil, nil
	}
	prefix := filepath.Join(b.dir, "nginx")
	if err := os.Mkdir(prefix, 0o700); err != nil {
		return nil, err
	}
	at, err := freeAddress()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(prefix, "nginx.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, nginxConfig, prefix, at, path, target, "go."+zone),
		0o600); err != nil {
		return nil, err
	}
	c, err := b.start(exec.Command(program, "-p", prefix, "-c", file, "-e", filepath.Join(prefix, "error.log")))
	if err != nil {
		return nil, err
	}
	c.address = at
	return c, nil
}

// visit asks a server for a path once, waiting for the server to start.
func visit(address, path string) (*http.Response, error) { return visitOn(address, path, "go."+zone) }

// visitOn is visit on a hostname.
func visitOn(address, path, hostname string) (*http.Response, error) {
	for started := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		request, err := http.NewRequest("GET", "http://"+address+path, nil)
		if err != nil {
			return nil, err
		}
		request.Host = hostname
		request.Header.Set("User-Agent", userAgent)
		response, err := http.DefaultTransport.RoundTrip(request)
		if err == nil {
			response.Body.Close()
			if response.StatusCode != http.StatusFound {
				return nil, fmt.Errorf("%s answers %s", address, response.Status)
			}
			return response, nil
		}
		if time.Since(started) > patience {
			return nil, err
		}
	}
}

// redirects compares a redirect with its click to answers without one, and to
// golink's, which counts in memory.
func (b *bench) redirects() error {
	const path = "/" + slug
	before := b.stored()
	s, err := b.serve()
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	b.add("memory idle, MiB", "%.1f", s.memory("VmRSS"), 0, "VmRSS 2 s after the start")
	answer, err := visit(s.public, path)
	if err != nil {
		return err
	}
	contenders := []*contender{{name: "waymark", child: s.child}}
	plain, err := b.startBare(answer.Header)
	if err != nil {
		return err
	}
	contenders = append(contenders, &contender{name: "bare net/http", child: plain})
	for name, start := range map[string]func() (*child, error){
		"nginx map + return": func() (*child, error) { return b.startNginx(path, answer.Header.Get("Location")) },
		"golink":             b.startGolink,
	} {
		other, err := start()
		if err != nil {
			return err
		}
		if other != nil {
			contenders = append(contenders, &contender{name: name, child: other})
		}
	}
	clicks, cpu := 1, s.cpu()
	for _, clients := range []int{1, 32} {
		n, err := b.redirectsBy(clients, s, contenders, path)
		if err != nil {
			return err
		}
		clicks += n
	}
	b.add("redirect until its click is in the event store, CPU µs", "%.1f", per(s.cpu()-cpu, clicks), 0,
		"mean of all turns")
	b.add("memory under redirect load, MiB", "%.1f", s.memory("VmHWM"), 64, "VmHWM; segments are written meanwhile")
	if err := s.stop(); err != nil {
		return err
	}
	b.add("bytes per click on disk", "%.1f", float64(b.stored()-before)/float64(clicks), 40,
		fmt.Sprintf("%d clicks, after loading, server stopped", clicks))
	return b.oneAddress(path)
}

// oneAddress measures the clicks of one address that are beyond its bound: they are
// redirected, and leave nothing behind.
func (b *bench) oneAddress(path string) error {
	s, err := b.serve("--limit-scale", "1")
	if err != nil {
		return err
	}
	defer s.stop()
	const unstored = `waymark_redirect_clicks_unstored_total{bound="address"}`
	for beyond := 0.0; beyond == 0; {
		if _, err := visit(s.public, path); err != nil {
			return err
		}
		if _, err := visits(s.public, path, 32); err != nil {
			return err
		}
		if beyond, err = s.gauge(unstored); err != nil {
			return err
		}
	}
	if err := s.drained("waymark_click_log_bytes"); err != nil {
		return err
	}
	disk := b.stored()
	before, err := s.gauge(unstored)
	if err != nil {
		return err
	}
	n, err := visits(s.public, path, 32)
	if err != nil {
		return err
	}
	after, err := s.gauge(unstored)
	if err != nil {
		return err
	}
	b.add("clicks of one address beyond its bound, per second", "%.0f", float64(n)/float64(*seconds), 0,
		fmt.Sprintf("32 clients; %.0f of %d not stored, %d bytes of disk", after-before, n, b.stored()-disk))
	return nil
}

// redirectsBy compares the contenders, of which the first is ours, and returns
// how many clicks it had.
func (b *bench) redirectsBy(clients int, s *server, contenders []*contender, path string) (clicks int, err error) {
	for _, c := range contenders {
		c.cost, c.rate, c.total = nil, nil, 0
	}
	for range *rounds {
		for _, c := range contenders {
			if _, err := visit(c.child.address, path); err != nil {
				return 0, err
			}
			if err := c.count(func() (int, error) { return visits(c.child.address, path, clients) }); err != nil {
				return 0, err
			}
			if c.child == s.child {
				// What it still does must not cost the others their processor.
				if err := s.drained("waymark_click_log_bytes"); err != nil {
					return 0, err
				}
			}
		}
	}
	way := contenders[0]
	ours := median(way.cost)
	aim := 0.0
	if clients > 1 {
		aim = 18
	}
	b.add(fmt.Sprintf("redirect with durable click, %d client(s), CPU µs", clients), "%.1f", ours, aim,
		fmt.Sprintf("%d requests in %d turns, loader at work beside; %.0f/s", way.total, *rounds, median(way.rate)))
	for _, c := range contenders[1:] {
		cost := median(c.cost)
		b.add("  "+c.name+", CPU µs", "%.1f", cost, 0, fmt.Sprintf("%d requests; %.0f/s", c.total, median(c.rate)))
		aim := 0.0
		if c.name == "bare net/http" && clients > 1 {
			aim = 1.3
		}
		b.add("  waymark's cost to that of "+c.name, "%.2f", ours/cost, aim, "in the same run")
	}
	return way.total + *rounds, nil
}

// stored returns the bytes of the data folder of a server that is stopped.
func (b *bench) stored() (bytes int64) {
	filepath.WalkDir(b.data, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
