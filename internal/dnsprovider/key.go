package dnsprovider

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// Key is a TSIG key (RFC 8945), which a server of DNS and those who change its zones
// share.
type Key struct {
	name, algorithm, secret string
}

// algorithms are those that RFC 8945 does not advise against, but for the shortened.
var algorithms = map[string]string{
	"hmac-sha224": dns.HmacSHA224,
	"hmac-sha256": dns.HmacSHA256,
	"hmac-sha384": dns.HmacSHA384,
	"hmac-sha512": dns.HmacSHA512,
}

// ParseKey reads NAME:ALGORITHM:SECRET, the secret in base64. What it says about a
// text that it refuses does not repeat the secret.
func ParseKey(text string) (Key, error) {
	parts := strings.Split(strings.TrimSpace(text), ":")
	if len(parts) != 3 {
		return Key{}, errors.New("the key is not one line NAME:ALGORITHM:SECRET, such as waymark:hmac-sha256:bm90…")
	}
	name, ok := hostname(parts[0])
	if !ok || name == "." {
		return Key{}, errors.New("the key's name, before the first colon, is not a DNS name")
	}
	algorithm, ok := algorithms[strings.ToLower(parts[1])]
	if !ok {
		return Key{}, fmt.Errorf("the key's algorithm, between the colons, is not one of %s",
			strings.Join(slices.Sorted(maps.Keys(algorithms)), ", "))
	}
	secret, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(secret) == 0 {
		return Key{}, errors.New("the key's secret, after the second colon, is not base64")
	}
	return Key{name, algorithm, parts[2]}, nil
}
