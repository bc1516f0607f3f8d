// Package store opens Waymark's main database, SQLite or PostgreSQL, and runs
// one SQL text on both.
//
// It owns connections, migrations, transactions and the few named differences
// between the engines (dialect.go). It does not hold any query of a capability:
// a query stands in the capability's package, beside the type that it reads or
// writes.
//
// Conventions of the schema: times are BIGINT microseconds UTC, ids and
// revisions TEXT, JSON as TEXT, enumerations TEXT, flags BOOLEAN. Placeholders
// are "?". Nothing asks the database for the time.
package store
