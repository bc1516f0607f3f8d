package dnstest

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the database of PowerDNS
)

// schema is that of PowerDNS's SQLite backend, as Debian has it.
const schema = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"

// PowerDNS starts PowerDNS with a zone, whose answers are never older than the zone.
func PowerDNS(t testing.TB, zone string) *Server {
	t.Helper()
	dir, port, api := folder(t), freePort(t), freePort(t)
	tables, err := os.ReadFile(schema)
	if err != nil {
		t.Fatalf("pdns-backend-sqlite3 is not installed; run: make tools (%v)", err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "pdns.sqlite3"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("PRAGMA synchronous=OFF;" + string(tables)); err != nil {
		t.Fatal(err)
	}
	config := setting(t, "pdns.conf", zone, "/var/lib/powerdns", dir, "webserver-port=8081", "webserver-port="+api)
	write(t, dir, "pdns.conf", config+`
local-address=127.0.0.1
local-port=`+port+`
socket-dir=`+dir+`
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
gsqlite3-pragma-synchronous=0
`)
	create := exec.Command("pdnsutil", "--config-dir="+dir, "create-zone", zone, "ns1."+zone)
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("pdnsutil create-zone: %v\n%s", err, out)
	}
	s := start(t, dir, port, zone, "pdns_server", "--config-dir="+dir, "--daemon=no", "--guardian=no")
	s.URL, s.APIKey = "http://127.0.0.1:"+api, secret
	return s
}
