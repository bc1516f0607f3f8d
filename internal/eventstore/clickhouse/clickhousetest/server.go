// Package clickhousetest starts a private ClickHouse for tests, on a free loopback port
// and in a temporary folder. There is no way to do without.
package clickhousetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// user and password are those of the server's only user.
const user, password = "waymark", "not-a-secret"

const config = `<yandex>
	<logger><level>warning</level><console>1</console></logger>
	<listen_host>127.0.0.1</listen_host>
	<tcp_port>%[1]d</tcp_port>
	<path>%[2]s/data/</path>
	<tmp_path>%[2]s/tmp/</tmp_path>
	<users_config>%[2]s/users.xml</users_config>
	<default_profile>default</default_profile>
	<default_database>default</default_database>
	<mark_cache_size>67108864</mark_cache_size>
</yandex>
`

const users = `<yandex>
	<profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
	<users><` + user + `>
		<password>` + password + `</password>
		<networks><ip>127.0.0.1</ip></networks>
		<profile>default</profile>
		<quota>default</quota>
	</` + user + `></users>
	<quotas><default></default></quotas>
</yandex>
`

// supervise runs a server until its own standard input ends, which happens when the
// process that started it is gone for whatever reason, and then removes the server's
// folder.
const supervise = `"$1" --config-file="$2/config.xml" >"$2/log" 2>&1 &
pid=$!
cat >/dev/null
kill -KILL $pid 2>/dev/null
wait $pid
rm -rf "$2"`

// Server is a private ClickHouse.
type Server struct {
	port int
	stop func() error
}

// Start starts a server that lives at most as long as this process. Keep it reachable:
// were it collected, the pipe that keeps the server alive would be closed with it.
func Start() (*Server, error) {
	program, err := exec.LookPath("clickhouse-server")
	if err != nil {
		if program = "/usr/sbin/clickhouse-server"; exec.Command("test", "-x", program).Run() != nil {
			return nil, errors.New("ClickHouse is not installed (no clickhouse-server); run: make tools")
		}
	}
	dir, err := os.MkdirTemp("", "waymark-clickhouse-")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"config.xml": fmt.Sprintf(config, port, dir), "users.xml": users} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	supervisor := exec.Command("sh", "-c", supervise, "sh", program, dir)
	supervisor.Dir = dir
	alive, err := supervisor.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := supervisor.Start(); err != nil {
		return nil, err
	}
	s := &Server{port: port, stop: func() error {
		alive.Close()
		return supervisor.Wait()
	}}
	if err := s.await(); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		s.Stop()
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	return s, nil
}

// Stop ends the server at once and removes its folder.
func (s *Server) Stop() error { return s.stop() }

// Address returns the address of a database of the server.
func (s *Server) Address(database string) string {
	return fmt.Sprintf("clickhouse://%s:%s@127.0.0.1:%d/%s", user, password, s.port, database)
}

func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		err := s.Execute(ctx, "SELECT 1")
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("ClickHouse did not start: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Execute runs a statement on the server.
func (s *Server) Execute(ctx context.Context, statement string) error {
	options, err := clickhouse.ParseDSN(s.Address(""))
	if err != nil {
		return err
	}
	conn, err := clickhouse.Open(options)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Exec(ctx, statement)
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

var (
	shared = sync.OnceValues(Start)
	serial atomic.Int64
)

// Shared returns the server that the tests of a process share.
func Shared(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatalf("private ClickHouse: %v", err)
	}
	return s
}

// Address returns the address of a database that is not there yet, on the shared
// server, with which it ends.
func Address(t testing.TB) string {
	t.Helper()
	return Shared(t).Address(fmt.Sprintf("t%d", serial.Add(1)))
}
