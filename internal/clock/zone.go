package clock

import (
	"slices"
	"strings"
	"time"
)

// ZoneExpected tells a client what a time zone is.
const ZoneExpected = "must be an IANA time zone such as Europe/Berlin"

// Zone returns the time zone with an IANA name, and whether there is one.
func Zone(name string) (*time.Location, bool) {
	zone, err := time.LoadLocation(name)
	folder, _, _ := strings.Cut(name, "/")
	return zone, err == nil && name != "" && !slices.Contains(unnamed, folder)
}

// unnamed are the files beside those of the zones, and folders with copies of all of
// them: what they have depends on the machine.
var unnamed = []string{"Local", "localtime", "posixrules", "Factory", "posix", "right"}
