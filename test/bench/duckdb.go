package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// duckDB is a process that answers SQL with the milliseconds that it took.
type duckDB struct {
	*child
	in  io.Writer
	out *bufio.Reader
}

// startDuckDB returns nil when it is not installed.
func (b *bench) startDuckDB(dir string) (*duckDB, error) {
	if _, err := os.Stat("test/duckdb/node_modules"); err != nil {
		return nil, nil
	}
	cmd := exec.Command("node", "test/bench/duckdb.mjs", filepath.Join(dir, "*.parquet"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c, err := b.start(cmd)
	return &duckDB{c, in, bufio.NewReader(out)}, err
}

func (d *duckDB) ask(sql string) (ms float64, err error) {
	if _, err := fmt.Fprintln(d.in, sql); err != nil {
		return 0, err
	}
	line, err := d.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("DuckDB: %w", err)
	}
	return strconv.ParseFloat(strings.TrimSpace(line), 64)
}
