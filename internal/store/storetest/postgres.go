package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// EnvPostgres names the environment variable with the address of a running
// private PostgreSQL, so that many test binaries share one (withpostgres).
const EnvPostgres = "WAYMARK_TEST_POSTGRES"

// supervise runs a server until its own standard input ends, which happens
// when the process that started it is gone for whatever reason, and then
// removes the server's folder.
const supervise = `"$1" -D "$2/data" -c config_file="$2/postgresql.conf" >"$2/log" 2>&1 &
pid=$!
cat >/dev/null
kill -QUIT $pid 2>/dev/null
wait $pid
rm -rf "$2"`

// Postgres returns the private PostgreSQL server, starting one that ends with
// this process unless EnvPostgres names one. Keep it reachable: were it
// collected, the pipe that keeps the server alive would be closed with it.
func Postgres() (*Server, error) {
	if address := os.Getenv(EnvPostgres); address != "" {
		return &Server{Address: address, stop: func() error { return nil }}, nil
	}
	return StartPostgres()
}

// Server is a private PostgreSQL on a free loopback port.
type Server struct {
	Address string
	stop    func() error
}

// Stop ends the server at once and removes its folder.
func (s *Server) Stop() error { return s.stop() }

// StartPostgres starts a server that lives at most as long as this process, with further lines of its
// configuration.
func StartPostgres(settings ...string) (*Server, error) {
	return startServer(settings, "initdb", "-U", "waymark", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
}

// StartStandby is StartPostgres for a standby that streams from the server at an address.
func StartStandby(address string) (*Server, error) {
	return startServer(nil, "pg_basebackup", "-d", address, "-R", "-X", "stream", "-c", "fast", "--no-sync")
}

// startServer starts a server on what a program has put into a folder of data.
func startServer(settings []string, prepare string, args ...string) (*Server, error) {
	preparer, err := binary(prepare)
	if err != nil {
		return nil, err
	}
	postgres, err := binary("postgres")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "waymark-postgres-")
	if err != nil {
		return nil, err
	}
	credential, err := unprivileged()
	if err != nil {
		return nil, err
	}
	if credential != nil {
		if err := os.Chown(dir, int(credential.Uid), int(credential.Gid)); err != nil {
			return nil, err
		}
	}
	attributes := &syscall.SysProcAttr{Credential: credential, Setpgid: true}
	preparing := exec.Command(preparer, append([]string{"-D", filepath.Join(dir, "data")}, args...)...)
	preparing.SysProcAttr, preparing.Dir = attributes, dir
	if out, err := preparing.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", prepare, err, out)
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	config := fmt.Sprintf("listen_addresses='127.0.0.1'\nport=%d\nunix_socket_directories=''\nmax_connections=300\nfsync=off\nsynchronous_commit=off\nfull_page_writes=off\nautovacuum=on\nmax_pred_locks_per_transaction=256\n", port) +
		strings.Join(append(settings, ""), "\n")
	if err := os.WriteFile(filepath.Join(dir, "postgresql.conf"), []byte(config), 0o644); err != nil {
		return nil, err
	}
	supervisor := exec.Command("sh", "-c", supervise, "sh", postgres, dir)
	supervisor.SysProcAttr, supervisor.Dir = attributes, dir
	alive, err := supervisor.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := supervisor.Start(); err != nil {
		return nil, err
	}
	server := &Server{
		Address: fmt.Sprintf("postgres://waymark@127.0.0.1:%d/postgres?sslmode=disable", port),
		stop: func() error {
			alive.Close()
			return supervisor.Wait()
		},
	}
	if err := awaitPostgres(server.Address); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		server.Stop()
		return nil, fmt.Errorf("%w\n%s", err, log)
	}
	return server, nil
}

func awaitPostgres(address string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	defer db.Close()
	deadline, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		err := db.PingContext(deadline)
		if err == nil {
			return nil
		}
		if deadline.Err() != nil {
			return fmt.Errorf("PostgreSQL did not start: %w", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// binary finds a program of PostgreSQL, also where Debian keeps them.
func binary(name string) (string, error) {
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 {
		return found[len(found)-1], nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("PostgreSQL is not installed (no %s); run: make tools", name)
	}
	return path, nil
}

// unprivileged returns whom to run PostgreSQL as when we are root: it refuses
// to run as root itself.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			return nil, err
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("running as root and there is neither a postgres nor a nobody user")
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
