package weburl

import "strings"

// reserved are the top-level domains that will never lead to a public host
// (IANA's special-use names).
var reserved = map[string]bool{
	"alt": true, "arpa": true, "example": true, "internal": true, "invalid": true,
	"local": true, "localhost": true, "onion": true, "test": true,
}

// Public reports whether what Hostname returned can be a name of the public DNS: not
// a single label, reserved or numeric in a way that some programs take for an
// address.
func Public(hostname string) bool {
	top := hostname[strings.LastIndexByte(hostname, '.')+1:]
	return top != hostname && !reserved[top] && (top[0] < '0' || top[0] > '9')
}
