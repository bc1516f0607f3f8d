package main

import (
	"fmt"
	"net/url"
	"strings"
)

// clients are the flags for the clients of the API.
type clients struct {
	CORSOrigins []string `name:"cors-origins" help:"Origins whose pages may call the API." placeholder:"ORIGIN"`
	DocsURL     string   `name:"docs-url" help:"Where the documentationUrl of errors leads; default: /docs of the API itself." placeholder:"URL"`
}

func (c *clients) check() error {
	if err := checkURL("--docs-url", c.DocsURL); err != nil {
		return err
	}
	c.DocsURL = strings.TrimSuffix(c.DocsURL, "/")
	for _, origin := range c.CORSOrigins {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf("--cors-origins: %q is not an origin such as https://console.example.com", origin)
		}
	}
	return nil
}

// checkURL refuses the value of a flag that is neither empty nor the URL of a web
// page.
func checkURL(flag, value string) error {
	if value == "" {
		return nil
	}
	if u, err := url.Parse(value); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return fmt.Errorf("%s %q is not an http or https URL", flag, value)
	}
	return nil
}
