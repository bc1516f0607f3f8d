package main

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/waymarkhq/waymark/internal/browser"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// dashboard is the flag of the commands that name the address of the dashboard.
type dashboard struct {
	APIURL string `name:"api-url" help:"Where browsers reach the API and its dashboard, such as https://api.example.com; default: https on --api-host, else http on this machine." placeholder:"URL"`
}

// check refuses an address that has more than a scheme and a host, and brings it into the form in
// which browsers name it. Without TLS it must be on this machine: elsewhere, everybody on the way could read
// the cookie.
func (d *dashboard) check() error {
	if d.APIURL == "" {
		return nil
	}
	u, err := url.Parse(d.APIURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" || u.Path != "" && u.Path != "/" {
		return fmt.Errorf("--api-url %q is not an address such as https://api.example.com", d.APIURL)
	}
	host, ok := weburl.Hostname(u.Hostname())
	if net.ParseIP(u.Hostname()) != nil {
		host, ok = u.Hostname(), true
	}
	if !ok {
		return fmt.Errorf("--api-url %q names no hostname", d.APIURL)
	}
	if u.Scheme == "http" && !browser.Loopback(host) {
		return fmt.Errorf("--api-url %q needs https: without it, browsers sign in at localhost alone", d.APIURL)
	}
	if port := u.Port(); port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		host = net.JoinHostPort(host, port)
	} else if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	d.APIURL = u.Scheme + "://" + host
	return nil
}

// site returns that address, for an API that listens on a port of this machine.
func (d *dashboard) site(port string) string {
	return cmp.Or(d.APIURL, "http://"+net.JoinHostPort("localhost", port))
}

// signInAt returns the address that signs in with a code. The code stands where no server and no
// log sees it.
func signInAt(site, code string) string { return site + "/dashboard/#/signin?code=" + code }
