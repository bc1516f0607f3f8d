package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// load is what a server is driven with: by so many clients, each of which asks
// on a connection that it keeps and waits for the answer.
type load struct {
	clients int
	// status is of every answer.
	status int
	// next returns a request; of is how many there were.
	next func(of int64) []byte
}

// contender is a server in a comparison.
type contender struct {
	name  string
	child *child
	cost  []float64 // CPU µs a request, by turn
	rate  []float64
	total int
}

// turn drives the contender for some seconds.
func (c *contender) turn(l load) error {
	return c.count(func() (int, error) { return l.drive(c.child.address) })
}

// count adds what was answered and what it cost.
func (c *contender) count(drive func() (int, error)) error {
	cpu, started := c.child.cpu(), time.Now()
	n, err := drive()
	if err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.total += n
	c.cost = append(c.cost, per(c.child.cpu()-cpu, n))
	c.rate = append(c.rate, float64(n)/time.Since(started).Seconds())
	return nil
}

// drive returns how many requests were answered in a turn's time.
func (l load) drive(address string) (int, error) {
	var answered atomic.Int64
	var failed atomic.Pointer[error]
	end := time.Now().Add(time.Duration(*seconds) * time.Second)
	var all sync.WaitGroup
	for range l.clients {
		all.Go(func() {
			if err := l.client(address, end, &answered); err != nil {
				failed.Store(&err)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return int(answered.Load()), nil
}

func (l load) client(address string, end time.Time, answered *atomic.Int64) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	for input := bufio.NewReader(conn); time.Now().Before(end); {
		if _, err := conn.Write(l.next(answered.Add(1))); err != nil {
			return err
		}
		response, err := http.ReadResponse(input, nil)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		if response.StatusCode != l.status {
			return fmt.Errorf("%s %s", response.Status, body)
		}
	}
	return nil
}

// loader names what drives the redirects.
func loader() string {
	if _, err := exec.LookPath("wrk"); err == nil {
		return "redirects asked for by wrk with 1 thread"
	}
	return "redirects asked for by the built-in load generator"
}

var wrkCount = regexp.MustCompile(`(?m)^\s*(\d+) requests in`)

// visits asks a server for a redirect again and again, with wrk where it is
// installed, which costs less than the built-in generator.
func visits(address, path string, clients int) (int, error) {
	wrk, err := exec.LookPath("wrk")
	if err != nil {
		ask := []byte("GET " + path + " HTTP/1.1\r\nHost: go." + zone + "\r\nUser-Agent: " + userAgent +
			"\r\nReferer: https://news.example/article\r\n\r\n")
		return load{clients, http.StatusFound, func(int64) []byte { return ask }}.drive(address)
	}
	out, err := exec.Command(wrk, "-t1", "-c"+strconv.Itoa(clients), "-d"+strconv.Itoa(*seconds)+"s",
		"-H", "Host: go."+zone, "-H", "User-Agent: "+userAgent, "-H", "Referer: https://news.example/article",
		"http://"+address+path).CombinedOutput()
	found := wrkCount.FindSubmatch(out)
	if err != nil || found == nil || strings.Contains(string(out), "Non-2xx") {
		return 0, fmt.Errorf("wrk: %w\n%s", err, out)
	}
	return strconv.Atoi(string(found[1]))
}
