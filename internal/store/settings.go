package store

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Trouble is a setting or state of the database with which Waymark does not keep what it promises.
type Trouble struct {
	// What is how things are, and Do what to do.
	What, Do string
	// Fatal troubles damage the database, or keep Waymark from working.
	Fatal bool
}

// CheckSettings returns how the database is set up, and what is wrong with that.
func (db *DB) CheckSettings(ctx context.Context) (found string, all []Trouble, err error) {
	if db.postgres != nil {
		s, err := One(ctx, db, scanPostgres, readPostgres)
		return s.String(), s.troubles(), err
	}
	s, err := One(ctx, db, scanSQLite, readSQLite)
	s.log = db.LogBytes()
	return s.String(), s.troubles(), err
}

// ClockAhead returns by how much the clock of PostgreSQL is ahead of this machine's, and less than 0
// when it is behind. What the question took is in favour of both: it may have been read at any instant
// in between. SQLite has no clock of its own.
func (db *DB) ClockAhead(ctx context.Context) (time.Duration, error) {
	if db.postgres == nil {
		return 0, nil
	}
	if err := db.Ping(ctx); err != nil { // so that no connection is opened while the clock is asked
		return 0, err
	}
	before := db.Now()
	micros, err := One(ctx, db, Value[int64], "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)")
	after := db.Now()
	switch at := before.Add(time.Duration(micros-int64(before)) * time.Microsecond); {
	case err != nil:
		return 0, err
	case at < before:
		return at.Sub(before), nil
	case at > after:
		return at.Sub(after), nil
	}
	return 0, nil
}

// sqliteSettings are those of a connection, but for the size of the write-ahead log.
type sqliteSettings struct {
	journal                  string
	synchronous, foreignKeys int64
	log                      int64
}

const readSQLite = `SELECT journal_mode, synchronous, foreign_keys FROM pragma_journal_mode, pragma_synchronous,
	pragma_foreign_keys`

// healthyLog is what the write-ahead log exceeds only while another program reads: many
// times maxLog.
const healthyLog = 256 << 20

func scanSQLite(r Row) (s sqliteSettings, err error) {
	err = r.Scan(&s.journal, &s.synchronous, &s.foreignKeys)
	return s, err
}

func (s sqliteSettings) String() string {
	return fmt.Sprintf("journal mode %s, synchronous %d, foreign keys %d, write-ahead log of %d MiB", s.journal,
		s.synchronous, s.foreignKeys, s.log>>20)
}

func (s sqliteSettings) troubles() (all []Trouble) {
	if s.journal != "wal" {
		all = append(all, Trouble{"SQLite cannot keep a write-ahead log: the journal mode is " + s.journal,
			"put the data folder on a local disk; file systems of a network lack what SQLite needs", true})
	}
	if s.synchronous < 2 || s.foreignKeys != 1 {
		all = append(all, Trouble{"SQLite does not heed synchronous=FULL and foreign_keys=1",
			"use the released program", true})
	}
	if s.log > healthyLog {
		all = append(all, Trouble{fmt.Sprintf("waymark.db-wal has %d MiB", s.log>>20),
			"end the other program that has waymark.db open, such as sqlite3", false})
	}
	return all
}

// postgresSettings are those of a server and of the sessions that Waymark has there.
type postgresSettings struct {
	version                       int64 // as 150004
	name                          string
	fsync, fullPages, synchronous string
	connections, reserved, used   int64
	encoding, isolation, readOnly string
	standby                       bool
}

const readPostgres = `SELECT CAST(current_setting('server_version_num') AS BIGINT), current_setting('server_version'),
	current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'),
	CAST(current_setting('max_connections') AS BIGINT), CAST(current_setting('superuser_reserved_connections') AS BIGINT),
	(SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), current_setting('server_encoding'),
	current_setting('default_transaction_isolation'), current_setting('default_transaction_read_only'), pg_is_in_recovery()`

func scanPostgres(r Row) (s postgresSettings, err error) {
	err = r.Scan(&s.version, &s.name, &s.fsync, &s.fullPages, &s.synchronous, &s.connections, &s.reserved, &s.used,
		&s.encoding, &s.isolation, &s.readOnly, &s.standby)
	return s, err
}

func (s postgresSettings) String() string {
	return fmt.Sprintf("PostgreSQL %s, fsync %s, synchronous_commit %s, %d of %d connections in use", s.name, s.fsync,
		s.synchronous, s.used, s.connections-s.reserved)
}

const (
	// testedPostgres is the oldest version that the tests run on.
	testedPostgres = 150000
	// fewFree is how many connections are to be free for programs besides Waymark, such as a backup.
	fewFree = 5
)

func (s postgresSettings) troubles() (all []Trouble) {
	add := func(wrong, fatal bool, what, do string) {
		if wrong {
			all = append(all, Trouble{what, do, fatal})
		}
	}
	const alter = "set it in postgresql.conf, and have the server read it again"
	add(s.standby, true, "the server is a standby, which takes no writes", "name the primary server with --database")
	add(!s.standby && s.readOnly == "on", true, "default_transaction_read_only is on",
		"ALTER ROLE … SET default_transaction_read_only = off, for the role of Waymark")
	add(s.encoding != "UTF8", true, "the encoding of the database is "+s.encoding,
		"make a database with ENCODING 'UTF8', and restore a backup into it")
	add(s.fsync == "off", true, "fsync is off: when the machine fails, the database is lost", alter)
	add(s.fullPages == "off", true, "full_page_writes is off: when the machine fails, the database may be damaged", alter)
	add(s.synchronous == "off", false, "synchronous_commit is off: when the machine fails, writes that were answered are lost",
		"set it to on, for the server or for the role of Waymark")
	add(s.isolation != "read committed", false, fmt.Sprintf("default_transaction_isolation is %s: single statements may fail beside others", s.isolation),
		"ALTER ROLE … SET default_transaction_isolation = 'read committed', for the role of Waymark")
	add(s.version < testedPostgres, false, fmt.Sprintf("PostgreSQL %s is older than 15, which Waymark is tested with", s.name), "upgrade the server")
	most := int64(onPostgres.usual + onPostgres.long + onPostgres.urgent + 1) // and one for migrations
	available := s.connections - s.reserved
	add(available < most, true, fmt.Sprintf("the server lets in %d connections, and a process of Waymark has up to %d", available, most),
		"raise max_connections: that number for each process of waymark serve, and some for backups")
	add(available >= most && available-s.used < fewFree, false, fmt.Sprintf("%d of %d connections are in use", s.used, available),
		"raise max_connections, or end what else uses the server")
	slices.SortStableFunc(all, func(a, b Trouble) int {
		if a.Fatal == b.Fatal {
			return 0
		} else if a.Fatal {
			return -1
		}
		return 1
	})
	return all
}
