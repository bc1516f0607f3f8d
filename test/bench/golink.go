package main

import (
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// startGolink starts the golink that GOLINK names, on a SQLite file beside ours,
// and returns nil where it names none. Its development mode leaves out the
// tailnet, and nothing of what a creation or a redirect does.
func (b *bench) startGolink() (*child, error) {
	program := os.Getenv("GOLINK")
	if program == "" {
		return nil, nil
	}
	at, err := freeAddress()
	if err != nil {
		return nil, err
	}
	c, err := b.start(exec.Command(program, "-dev-listen", at, "-sqlitedb", filepath.Join(b.dir, "golink.db")))
	if err != nil {
		return nil, err
	}
	c.address = at
	for started := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		response, err := http.DefaultTransport.RoundTrip(golinkCreation(at, slug))
		if err == nil {
			return c, response.Body.Close()
		}
		if time.Since(started) > patience {
			return nil, err
		}
	}
}

// golinkCreation is the request that creates a link as the page's form does.
func golinkCreation(address, slug string) *http.Request {
	form := url.Values{"short": {slug}, "long": {destination(slug)}}.Encode()
	request, err := http.NewRequest("POST", "http://"+address+"/", strings.NewReader(form))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Sec-Golink", "1") // stands for the token of the form
	return request
}

// freeAddress returns an address that is free now, for servers that cannot tell
// which they chose.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
