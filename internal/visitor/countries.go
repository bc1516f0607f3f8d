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

// lookForFile is how often Run checks whether the file was replaced.
const lookForFile = time.Minute

// Countries finds the country of an address in a file in MaxMind's format.
type Countries struct {
	path string
	log  *slog.Logger
	// found describes the file at path when the current one was opened.
	found os.FileInfo
	// current is mapped into memory. A replaced file is left to the garbage
	// collector, which knows when nothing reads it any more.
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

// open opens the file as it is now, and reports whether it is another file than
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

// Run opens the file again when it was replaced, until ctx is done. To replace
// it, move another file to its place: the bytes of a file in use must not
// change.
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

// countryCode returns a country code in capitals, or "" when the text is not
// one. Some proxies send XX when they do not know the country.
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
