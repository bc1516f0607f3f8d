package visitor

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/oschwald/maxminddb-golang/v2"

	"github.com/waymarkhq/waymark/internal/fault"
)

// lookForFile is how often it is looked whether the file was replaced.
const lookForFile = time.Minute

// Countries tells the country of an address from a file in MaxMind's format.
type Countries struct {
	path string
	log  *slog.Logger
	// found is what stood at path when the current file was opened.
	found os.FileInfo
	// current is mapped into memory. One that was replaced is left to the
	// garbage collector, which knows when nobody reads it any more.
	current atomic.Pointer[maxminddb.Reader]
}

// OpenCountries opens a file. Run must run for a replacement to be noticed.
func OpenCountries(path string, log *slog.Logger) (_ *Countries, err error) {
	defer fault.Wrap(&err, "visitor.OpenCountries(%q)", path)
	c := &Countries{path: path, log: log}
	if _, err := c.open(); err != nil {
		return nil, err
	}
	return c, nil
}

// open takes the file as it is now, and reports whether it is another one than
// before.
func (c *Countries) open() (replaced bool, err error) {
	found, err := os.Stat(c.path)
	if err != nil {
		return false, err
	}
	if c.found != nil && os.SameFile(found, c.found) && found.ModTime().Equal(c.found.ModTime()) {
		return false, nil
	}
	reader, err := maxminddb.Open(c.path)
	if err != nil {
		return false, fmt.Errorf("%s is no file in MaxMind's format: %w", c.path, err)
	}
	c.found = found
	c.current.Store(reader)
	return true, nil
}

// Run takes over a file that replaces the one in use, until ctx is done. What
// replaces it must be another file, moved to its place: the bytes of one in use
// must not change.
func (c *Countries) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookForFile):
		}
		switch replaced, err := c.open(); {
		case err != nil:
			c.log.Warn("countries are told by the file that was opened before", "error", err)
		case replaced:
			c.log.Info("countries are told by a new file", "file", c.path)
		}
	}
}

// of returns the country of an address, "" when the file does not know it.
func (c *Countries) of(address netip.Addr) (code string) {
	found := c.current.Load().Lookup(address)
	for _, path := range [...][]any{{"country", "iso_code"}, {"registered_country", "iso_code"}} {
		if err := found.DecodePath(&code, path...); err != nil || code != "" {
			break
		}
	}
	return countryCode(code)
}

// countryCode returns a country as it is written everywhere, "" for what is
// none. XX is how some proxies say that they do not know.
func countryCode(s string) string {
	if len(s) != 2 {
		return ""
	}
	code := strings.ToUpper(s)
	if code[0] < 'A' || code[0] > 'Z' || code[1] < 'A' || code[1] > 'Z' || code == "XX" {
		return ""
	}
	return code
}
