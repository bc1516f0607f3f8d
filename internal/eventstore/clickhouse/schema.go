package clickhouse

import (
	"context"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// version is that of the schema below.
const version = 1

// createEvent makes the table of events. Texts are dictionary encoded, but for tags: an
// empty array of such texts cannot be read from version 18.16.
const createEvent = `CREATE TABLE IF NOT EXISTS %s (
	app LowCardinality(String), at Int64, id Int64, type LowCardinality(String), visitor Int64, install Int64,
	link LowCardinality(String), hostname LowCardinality(String), prefix LowCardinality(String),
	slug LowCardinality(String), link_group LowCardinality(String), campaign LowCardinality(String),
	folder LowCardinality(String), tags Array(String),
	device LowCardinality(String), os LowCardinality(String), browser LowCardinality(String),
	source LowCardinality(String), country LowCardinality(String), referrer LowCardinality(String),
	rule LowCardinality(String), destination LowCardinality(String)
) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(toDateTime(intDiv(at, 1000000), 'UTC')) ORDER BY (app, at, id)`

// prepare makes the schema where it is missing, and refuses that of a newer version.
// Once that was well, it does nothing.
func (s *Store) prepare(ctx context.Context) error {
	if s.ready.Load() {
		return nil
	}
	select {
	case s.preparing <- struct{}{}:
		defer func() { <-s.preparing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s.ready.Load() {
		return nil
	}
	schema := "`" + s.database + "`.event_schema"
	there, err := one[uint64](ctx, s, schemaTimeout, "SELECT count() FROM system.tables WHERE database = ? AND name = ?",
		s.database, "event_schema")
	if err != nil {
		return err
	}
	if there == 0 {
		if err := s.create(ctx, schema); err != nil {
			return fmt.Errorf("make the schema: %w", err)
		}
	}
	found, err := one[uint32](ctx, s, schemaTimeout, "SELECT version FROM "+schema)
	if err != nil {
		return err
	}
	if found != version {
		return fmt.Errorf("database %s has schema %d and this program has %d: use a program of the version that made it",
			s.database, found, version)
	}
	s.ready.Store(true)
	return nil
}

// create makes all that is missing. Others may be at it, too.
func (s *Store) create(ctx context.Context, schema string) error {
	there, err := one[uint64](ctx, s, schemaTimeout, "SELECT count() FROM system.databases WHERE name = ?", s.database)
	if err != nil {
		return err
	}
	var statements []string
	if there == 0 { // a user may be allowed everything but this
		statements = append(statements, "CREATE DATABASE IF NOT EXISTS `"+s.database+"`")
	}
	statements = append(statements, fmt.Sprintf(createEvent, s.table),
		fmt.Sprintf("CREATE VIEW IF NOT EXISTS %s AS SELECT toUInt32(%d) AS version", schema, version))
	// Until version 19 a server asks whether one really wants LowCardinality.
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{
		"allow_experimental_low_cardinality_type": 1,
	}))
	for _, statement := range statements {
		if err := s.exec(ctx, schemaTimeout, statement); err != nil {
			return err
		}
	}
	return nil
}
