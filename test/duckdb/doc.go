// Package duckdb holds a test that reads the files of events with DuckDB, as
// docs/event-files.md tells people to do.
package duckdb
