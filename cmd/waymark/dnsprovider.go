package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/waymarkhq/waymark/internal/dnsprovider"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// zones are the flags that say where the zones of managed domains are hosted.
type zones struct {
	DNSProvider     string   `name:"dns-provider" help:"DNS provider that hosts the zones of managed domains: rfc2136, powerdns or exec:PATH; without one there are none." placeholder:"KIND"`
	DNSNameservers  []string `name:"dns-nameservers" help:"Nameservers of the DNS provider, to which owners delegate their hostnames." placeholder:"HOST"`
	RFC2136Server   string   `name:"rfc2136-server" env:"WAYMARK_RFC2136_SERVER" help:"DNS server that takes dynamic updates." placeholder:"HOST:PORT"`
	RFC2136TSIGFile string   `name:"rfc2136-tsig-file" env:"WAYMARK_RFC2136_TSIG_FILE" help:"File with the key of the updates, NAME:ALGORITHM:SECRET." placeholder:"FILE"`
	PowerDNSURL     string   `name:"powerdns-url" help:"Address of the HTTP API of PowerDNS, such as http://127.0.0.1:8081." placeholder:"URL"`
	PowerDNSKeyFile string   `name:"powerdns-key-file" help:"File with the API key of PowerDNS." placeholder:"FILE"`
}

const scriptPrefix = "exec:"

// check refuses flags that do not go together, and completes them.
func (z *zones) check() error {
	kind := z.DNSProvider
	if strings.HasPrefix(kind, scriptPrefix) {
		kind = scriptPrefix
	}
	switch kind {
	case "", "rfc2136", "powerdns", scriptPrefix:
	default:
		return fmt.Errorf("--dns-provider %q is not rfc2136, powerdns or exec:PATH", z.DNSProvider)
	}
	for _, flag := range []struct{ name, value, kind string }{
		{"--rfc2136-server", z.RFC2136Server, "rfc2136"},
		{"--rfc2136-tsig-file", z.RFC2136TSIGFile, "rfc2136"},
		{"--powerdns-url", z.PowerDNSURL, "powerdns"},
		{"--powerdns-key-file", z.PowerDNSKeyFile, "powerdns"},
	} {
		if flag.kind == kind && flag.value == "" {
			return fmt.Errorf("--dns-provider %s needs %s", kind, flag.name)
		}
		if flag.kind != kind && flag.value != "" {
			return fmt.Errorf("%s needs --dns-provider %s", flag.name, flag.kind)
		}
	}
	switch {
	case kind == "" && len(z.DNSNameservers) > 0:
		return errors.New("--dns-nameservers needs --dns-provider")
	case kind != "" && len(z.DNSNameservers) == 0:
		return errors.New("--dns-provider needs --dns-nameservers: owners must know where to delegate their hostnames")
	}
	for i, nameserver := range z.DNSNameservers {
		host, ok := weburl.Hostname(nameserver)
		if !ok {
			return fmt.Errorf("--dns-nameservers: %q is not a hostname", nameserver)
		}
		z.DNSNameservers[i] = host
	}
	host, port, err := net.SplitHostPort(z.RFC2136Server)
	if kind == "rfc2136" && (err != nil || host == "" || port == "") {
		return fmt.Errorf("--rfc2136-server %q is not HOST:PORT", z.RFC2136Server)
	}
	if u, err := url.Parse(z.PowerDNSURL); err == nil && (u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		return errors.New("--powerdns-url must be an address alone; the API key stands in the file of " +
			"--powerdns-key-file")
	}
	return checkURL("--powerdns-url", z.PowerDNSURL)
}

// checkedProvider is a DNS provider that can tell whether it is set up well. Check
// tries it with a hostname that it probably hosts and changes nothing.
type checkedProvider interface {
	dnsprovider.Provider
	Check(ctx context.Context, hostname string) (found string, err error)
}

// provider returns the DNS provider that the flags describe, nil without one.
func (z *zones) provider(log *slog.Logger) (checkedProvider, error) {
	switch z.DNSProvider {
	case "":
		return nil, nil
	case "rfc2136":
		text, err := secret(log, "--rfc2136-tsig-file", z.RFC2136TSIGFile)
		if err != nil {
			return nil, err
		}
		key, err := dnsprovider.ParseKey(text)
		if err != nil {
			return nil, fmt.Errorf("--rfc2136-tsig-file %s: %w", z.RFC2136TSIGFile, err)
		}
		return dnsprovider.NewRFC2136(z.RFC2136Server, key), nil
	case "powerdns":
		key, err := secret(log, "--powerdns-key-file", z.PowerDNSKeyFile)
		if err != nil {
			return nil, err
		}
		return dnsprovider.NewPowerDNS(z.PowerDNSURL, key, z.DNSNameservers), nil
	}
	script, err := dnsprovider.NewScript(strings.TrimPrefix(z.DNSProvider, scriptPrefix), z.DNSNameservers)
	if err != nil {
		return nil, fmt.Errorf("--dns-provider %s: %w", z.DNSProvider, err)
	}
	return script, nil
}

// tryProvider asks the DNS provider something and returns what it found, "" without
// one.
func (z *zones) tryProvider(ctx context.Context) (found string, err error) {
	provider, err := z.provider(slog.Default())
	if err != nil || provider == nil {
		return "", err
	}
	if found, err = provider.Check(ctx, z.DNSNameservers[0]); err != nil {
		return "", fmt.Errorf("the DNS provider: %w", err)
	}
	return found, nil
}

// maxSecret is more than any secret has, in bytes.
const maxSecret = 4096

// secret reads the one line of the file that a flag names. A secret does not stand on
// the command line: other users of the machine see that.
func secret(log *slog.Logger, flag, file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecret {
		return "", fmt.Errorf("%s: %s is not a file with one line", flag, file)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", flag, err)
	}
	line := strings.TrimSpace(string(content))
	if line == "" || strings.ContainsAny(line, "\r\n") {
		return "", fmt.Errorf("%s: %s is not a file with one line", flag, file)
	}
	if info.Mode()&0o007 != 0 {
		log.Warn("every user of this machine can open a file with a secret: chmod o= FILE", "flag", flag, "file", file)
	}
	return line, nil
}
