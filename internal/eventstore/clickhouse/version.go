package clickhouse

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/waymarkhq/waymark/internal/fault"
)

// Version returns the version of the server.
func (s *Store) Version(ctx context.Context) (version string, err error) {
	defer fault.Wrap(&err, "ClickHouse")
	rows, err := all(ctx, s, queryTimeout, func(r driver.Rows) (v string, err error) {
		err = r.Scan(&v)
		return v, err
	}, "SELECT version()")
	if err == nil {
		version = rows[0]
	}
	return version, err
}
