package main

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymarkhq/waymark/internal/dnsprovider/dnstest"
)

func TestFlagsOfDNSProvider(t *testing.T) {
	hosts := []string{"NS1.example.net."}
	for says, z := range map[string]zones{
		`--dns-provider "bind" is not rfc2136, powerdns or exec:PATH`: {DNSProvider: "bind"},
		"--dns-provider rfc2136 needs --rfc2136-server":               {DNSProvider: "rfc2136", DNSNameservers: hosts},
		"--dns-provider rfc2136 needs --rfc2136-tsig-file": {DNSProvider: "rfc2136", DNSNameservers: hosts,
			RFC2136Server: "127.0.0.1:53"},
		"--dns-provider powerdns needs --powerdns-url": {DNSProvider: "powerdns", DNSNameservers: hosts},
		"--dns-provider powerdns needs --powerdns-key-file": {DNSProvider: "powerdns", DNSNameservers: hosts,
			PowerDNSURL: "http://127.0.0.1:8081"},
		"--powerdns-url needs --dns-provider powerdns": {DNSProvider: "exec:/bin/true", DNSNameservers: hosts,
			PowerDNSURL: "http://127.0.0.1:8081"},
		"--rfc2136-server needs --dns-provider rfc2136":     {RFC2136Server: "127.0.0.1:53"},
		"--rfc2136-tsig-file needs --dns-provider rfc2136":  {RFC2136TSIGFile: "/etc/waymark/tsig"},
		"--powerdns-key-file needs --dns-provider powerdns": {PowerDNSKeyFile: "/etc/waymark/key"},
		"--dns-provider needs --dns-nameservers":            {DNSProvider: "exec:/bin/true"},
		"--dns-nameservers needs --dns-provider":            {DNSNameservers: hosts},
		`--dns-nameservers: "a b" is not a hostname`: {DNSProvider: "exec:/bin/true",
			DNSNameservers: []string{"a b"}},
		`--rfc2136-server "127.0.0.1" is not HOST:PORT`: {DNSProvider: "rfc2136", DNSNameservers: hosts,
			RFC2136Server: "127.0.0.1", RFC2136TSIGFile: "f"},
		`--powerdns-url "127.0.0.1:8081" is not an http`: {DNSProvider: "powerdns", DNSNameservers: hosts,
			PowerDNSURL: "127.0.0.1:8081", PowerDNSKeyFile: "f"},
		"the API key stands in the file of --powerdns-key-file": {DNSProvider: "powerdns", DNSNameservers: hosts,
			PowerDNSURL: "http://u:p@127.0.0.1:8081", PowerDNSKeyFile: "f"},
	} {
		z.DNSNameservers = slices.Clone(z.DNSNameservers)
		if err := z.check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	for _, z := range []zones{
		{},
		{DNSProvider: "exec:/bin/true", DNSNameservers: slices.Clone(hosts)},
		{DNSProvider: "powerdns", DNSNameservers: slices.Clone(hosts), PowerDNSURL: "https://dns.example",
			PowerDNSKeyFile: "f"},
		{DNSProvider: "rfc2136", DNSNameservers: slices.Clone(hosts), RFC2136Server: "[::1]:53", RFC2136TSIGFile: "f"},
	} {
		if err := z.check(); err != nil {
			t.Error(err)
		}
		if len(z.DNSNameservers) == 1 && z.DNSNameservers[0] != "ns1.example.net" {
			t.Errorf("the nameservers are %q", z.DNSNameservers)
		}
	}
}

func TestSecretsOfDNSProvider(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	for _, test := range []struct{ file, says, warns string }{
		{file("good", dnstest.Key+"\n", 0o640), "", ""},
		{file("open", dnstest.Key, 0o604), "", "every user"},
		{file("empty", "\n", 0o600), "not a file with one line", ""},
		{file("lines", dnstest.Key+"\n"+dnstest.Key, 0o600), "not a file with one line", ""},
		{file("long", strings.Repeat("x", maxSecret+1), 0o600), "not a file with one line", ""},
		{file("unknown", "waymark:hmac-md5:c2VjcmV0", 0o600), "hmac-sha256", ""},
		{dir, "not a file with one line", ""},
		{dir + "/absent", "no such file", ""},
	} {
		logged.Reset()
		z := zones{DNSProvider: "rfc2136", RFC2136Server: "127.0.0.1:53", RFC2136TSIGFile: test.file}
		_, err := z.provider(log)
		if (err == nil) != (test.says == "") {
			t.Errorf("%s: %v", test.file, err)
		} else if err != nil && (!strings.Contains(err.Error(), test.says) ||
			!strings.Contains(err.Error(), "--rfc2136-tsig-file") || strings.Contains(err.Error(), "c2VjcmV0")) {
			t.Errorf("%s: %v", test.file, err)
		}
		if !strings.Contains(logged.String(), test.warns) || test.warns == "" && logged.Len() > 0 {
			t.Errorf("%s: logged %q", test.file, &logged)
		}
	}
	if p, err := (&zones{}).provider(log); p != nil || err != nil {
		t.Errorf("without flags the provider is %v, %v", p, err)
	}
	script := zones{DNSProvider: "exec:" + dir + "/good"}
	if _, err := script.provider(log); err == nil || !strings.Contains(err.Error(), "--dns-provider exec:") {
		t.Error(err)
	}
}

func TestTryProvider(t *testing.T) {
	knot, powerdns, dir := dnstest.Knot(t, "zone.example"), dnstest.PowerDNS(t, "zone.example"), t.TempDir()
	for name, content := range map[string]string{"tsig": dnstest.Key, "wrong": "waymark:hmac-sha256:bm90",
		"key": powerdns.APIKey, "script": "#!/bin/sh\necho '{}'\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	hosts := []string{"ns1.zone.example"}
	for _, test := range []struct {
		zones        zones
		found, fails string
	}{
		{zones{}, "", ""},
		{zones{"rfc2136", hosts, knot.Address, dir + "/tsig", "", ""}, knot.Address + " accepts the key waymark", ""},
		{zones{"rfc2136", hosts, knot.Address, dir + "/wrong", "", ""}, "", "the DNS provider: " + knot.Address +
			" refuses the key waymark: its secret is another one (BADSIG)"},
		{zones{"powerdns", hosts, "", "", powerdns.URL, dir + "/key"}, "PowerDNS 4.", ""},
		{zones{"powerdns", hosts, "", "", powerdns.URL, dir + "/wrong"}, "", "the DNS provider: the API answered 401"},
		{zones{"exec:" + dir + "/script", hosts, "", "", "", ""}, dir + "/script answers", ""},
	} {
		found, err := test.zones.tryProvider(t.Context())
		if !strings.HasPrefix(found, test.found) || (found == "") != (test.found == "") ||
			(err == nil) != (test.fails == "") {
			t.Errorf("found %q, %v", found, err)
		}
		if err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%v does not say %q", err, test.fails)
		}
	}
}
