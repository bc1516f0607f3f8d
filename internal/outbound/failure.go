package outbound

import "fmt"

// Failure tells why an attempt did not succeed, sanitized for the owner of the
// destination.
type Failure struct {
	Code    string
	Message string
}

// The codes of failures (completions.md §9).
const (
	timeout          = "timeout"
	connectionFailed = "connection_failed"
	tlsFailed        = "tls_failed"
	dnsBlocked       = "dns_blocked"
	dnsFailed        = "dns_failed"
	httpStatus       = "http_status"
	redirectRefused  = "redirect_refused"
)

// messages are fixed: what was found on the way may be somebody else's.
var messages = map[string]string{
	timeout:          "The destination did not answer within 5 seconds.",
	connectionFailed: "The connection to the destination failed, or its answer was not valid HTTP.",
	tlsFailed:        "No TLS connection to the destination could be made. Check its certificate.",
	dnsBlocked:       "The destination's host resolves to an address that is not public.",
	dnsFailed:        "The destination's host has no IPv4 address in the DNS.",
	redirectRefused:  "The destination answered with a redirect. Redirects are not followed. Register the final URL.",
}

// failed returns the failure of a code, or nil for none.
func failed(code string, status int) *Failure {
	switch code {
	case "":
		return nil
	case httpStatus:
		return &Failure{code, fmt.Sprintf("The destination answered with status %d.", status)}
	}
	return &Failure{code, messages[code]}
}
