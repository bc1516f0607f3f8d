package main

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"api-addr", "data-dir", "database", "dev", "email", "limit-scale"}
	for name, want := range map[string]string{
		"api-addr": "api-addr", "api_addr": "api-addr", "api-adr": "api-addr", "apiaddr": "api-addr", "data-dri": "data-dir",
		"limit-scales": "limit-scale", "limit-scaels": "limit-scale", "limit-sacles": "limit-scale", "limit-slaecs": "",
		"emial": "email", "emal": "email", "mial": "", "dev": "dev", "dve": "dev", "env": "", "de": "", "": "", "api-port": "",
	} {
		if got := nearest(name, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
