package weburl

import "strings"

// AuthorityHost returns the hostname of what a Host header or a URL holds of its
// host, in the form in which hostnames are stored: lower case, without port and
// final dot. It is not ok for what can be no stored hostname, such as an
// address: that is most of what scanners ask for.
func AuthorityHost(host string) (hostname string, ok bool) {
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		if strings.Trim(host[i+1:], "0123456789") != "" {
			return "", false
		}
		host = host[:i]
	}
	host = strings.TrimSuffix(host, ".")
	if len(host) == 0 || len(host) > 253 {
		return "", false
	}
	label, digits, upper := 0, true, false
	for i := 0; i < len(host); i++ {
		switch c := host[i]; {
		case c == '.':
			if label == 0 {
				return "", false
			}
			label, digits = 0, true
			continue
		case 'A' <= c && c <= 'Z':
			upper, digits = true, false
		case 'a' <= c && c <= 'z', c == '-', c == '_':
			digits = false
		case '0' <= c && c <= '9':
		default:
			return "", false
		}
		label++
	}
	if label == 0 || digits {
		return "", false
	}
	if upper {
		host = strings.ToLower(host)
	}
	return host, true
}
