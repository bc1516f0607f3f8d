package weburl

import "testing"

func TestPublic(t *testing.T) {
	for hostname, want := range map[string]bool{
		"example.com": true, "a.b.example.org": true, "xn--80aa2cbv.xn--p1ai": true,
		"com": false, "localhost": false, "a.localhost": false, "a.test": false, "a.example": false, "a.internal": false,
		"a.onion": false, "a.0x7f": false,
	} {
		if got := Public(hostname); got != want {
			t.Errorf("%s: %v", hostname, got)
		}
	}
}
