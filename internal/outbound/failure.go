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
	tlsFailed:        "No secure connection to the destination could be made; check its certificate.",
	dnsBlocked:       "The destination's host does not have public IPv4 addresses only.",
	dnsFailed:        "The DNS gave no IPv4 address for the destination's host.",
	redirectRefused:  "The destination answered with a redirect, which is not followed.",
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
