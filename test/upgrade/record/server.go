package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/google/uuid"
)

const (
	owner = "owner@example.com"
	zone  = "links.example" // apitest.Zone
)

type object = map[string]any

// server is a running program and a client of it. The first failure stays in
// err, after which calls do nothing.
type server struct {
	command     *exec.Cmd
	log         string
	api, public string
	token       string
	offered     map[string]bool // "METHOD /path/{id}"
	err         error
}

var listening = regexp.MustCompile(`msg=listening what=(\w+) address=(\S+)`)

func start(program, dir, database string) (*server, error) {
	s := &server{log: filepath.Join(dir, "log"), offered: map[string]bool{}}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s.command = exec.Command(program, "serve", "--data-dir", dir, "--database", database, "--environment", "staging",
		"--platform-zone", zone,
		"--api-addr", "127.0.0.1:0", "--public-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0")
	s.command.Stderr = log
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	err = within("listening", func() (bool, error) {
		text, err := os.ReadFile(s.log)
		for _, m := range listening.FindAllStringSubmatch(string(text), -1) {
			switch m[1] {
			case "api":
				s.api = "http://" + m[2] + "/v1"
			case "public":
				s.public = m[2]
			}
		}
		return s.api != "" && s.public != "", err
	})
	if err == nil {
		var token []byte
		token, err = exec.Command(program, "session", "issue", "--data-dir", dir, "--database", database, "--email",
			owner).Output()
		s.token = strings.TrimSpace(string(token))
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	var capabilities struct {
		Operations []struct{ Method, Path string }
	}
	s.into(&capabilities, s.call("GET", "/capabilities", nil))
	for _, o := range capabilities.Operations {
		s.offered[o.Method+" "+strings.TrimPrefix(o.Path, "/v1")] = true
	}
	return s, s.err
}

func (s *server) stop() error {
	s.command.Process.Signal(syscall.SIGTERM)
	if err := s.command.Wait(); err != nil {
		text, _ := os.ReadFile(s.log)
		return fmt.Errorf("%w\n%s", err, text)
	}
	return nil
}

// fail keeps the first failure.
func (s *server) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *server) into(v any, data json.RawMessage) {
	if s.err == nil {
		s.fail(json.Unmarshal(data, v))
	}
}

// send sends a request and returns the data of its answer; a status of 400 or
// more is a failure.
func (s *server) send(method, path, contentType, revision string, body io.Reader) json.RawMessage {
	if s.err != nil {
		return nil
	}
	r, err := http.NewRequest(method, s.api+path, body)
	if err != nil {
		s.fail(err)
		return nil
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if method != http.MethodGet {
		r.Header.Set("Idempotency-Key", uuid.NewString())
	}
	if revision != "" {
		r.Header.Set("If-Match", `"`+revision+`"`)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.fail(err)
		return nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 400 {
		err = fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	if err != nil {
		s.fail(err)
		return nil
	}
	var envelope struct{ Data json.RawMessage }
	if len(text) > 0 {
		s.fail(json.Unmarshal(text, &envelope))
	}
	return envelope.Data
}

func (s *server) call(method, path string, body object) json.RawMessage {
	return s.change(method, path, "", body)
}

// change calls an operation that names the revision it changes.
func (s *server) change(method, path, revision string, body object) json.RawMessage {
	if body == nil {
		return s.send(method, path, "", revision, nil)
	}
	text, err := json.Marshal(body)
	s.fail(err)
	return s.send(method, path, "application/json", revision, bytes.NewReader(text))
}

// resource is what the recorder needs of any resource.
type resource struct{ ID, Revision, Status, OperationID string }

func (s *server) create(path string, body object) (r resource) {
	s.into(&r, s.call("POST", path, body))
	return r
}

// upload uploads an image.
func (s *server) upload(appID string, image []byte) (r resource) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	s.fail(w.WriteField("appId", appID))
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="logo.png"`}, "Content-Type": {"image/png"}})
	s.fail(err)
	if err == nil {
		_, err = part.Write(image)
	}
	s.fail(errors.Join(err, w.Close()))
	s.into(&r, s.send("POST", "/assets", w.FormDataContentType(), "", &body))
	return r
}

// visit follows a link as a browser and returns where it leads.
func (s *server) visit(path string) (location string) {
	s.within("a redirect of "+path, func() bool {
		r, err := http.NewRequest("GET", "http://"+s.public+path, nil)
		if err != nil {
			s.fail(err)
			return false
		}
		r.Host = host
		r.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			s.fail(err)
			return false
		}
		defer response.Body.Close()
		location = response.Header.Get("Location")
		return response.StatusCode == http.StatusFound
	})
	return location
}

// within waits until done.
func (s *server) within(what string, done func() bool) {
	if s.err == nil {
		s.fail(within(what, func() (bool, error) { return done(), s.err }))
	}
}
