package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
)

// basePath is where the operations of the contract stand below the server.
const basePath = "/v1"

// maxAnswer bounds what is read of one answer, in bytes. The largest answer of the contract is
// an image of 10 MiB.
const maxAnswer = 32 << 20

// Client calls one installation with one credential. Several goroutines may use it.
type Client struct {
	// Server is the address of the API listener, such as https://waymark.example.com.
	Server string
	// Token is an API key or the token of a session.
	Token string
	// Agent names the program in the User-Agent header; empty: waymark-client.
	Agent string
	// Patience is how long one call is repeated while the server cannot be reached or asks to
	// wait. 0 means 10 seconds, less than 0 that no call is repeated.
	Patience time.Duration
	// Waiting is called before each pause, with its length and its reason; nil: nobody is told.
	Waiting func(pause time.Duration, reason error)
	// HTTP makes the requests. nil means a client that gives each request a minute.
	HTTP *http.Client
}

// Request is one call. Path and Method are the operation's in the contract.
type Request struct {
	Method string
	// Path is relative to /v1, with its parameters filled in (see Path).
	Path  string
	Query url.Values
	// Body is sent as JSON; nil sends none. File is sent instead, when it is set.
	Body any
	File *File
	// Revision is what was last read, for If-Match, without quotes.
	Revision string
	// Key is the Idempotency-Key of a mutation; empty: a new one.
	Key string
}

// Path fills the parameters of a path of the contract, in their order:
// Path("/links/{linkId}/tags", id).
func Path(template string, values ...string) string {
	var b strings.Builder
	for _, value := range values {
		before, rest, found := strings.Cut(template, "{")
		if !found {
			break
		}
		_, template, _ = strings.Cut(rest, "}")
		b.WriteString(before + url.PathEscape(value))
	}
	return b.String() + template
}

// NewKey returns a new Idempotency-Key.
func NewKey() string { return uuid.NewString() }

// Do makes one call, and repeats it while it may succeed later. The error is an *Error when
// the server refused, and a *LostError when no answer came.
func (c *Client) Do(ctx context.Context, r Request) (*Answer, error) {
	body, contentType, err := r.encode()
	if err != nil {
		return nil, fmt.Errorf("%s %s: encode the body: %w", r.Method, r.Path, err)
	}
	if r.Method != http.MethodGet {
		r.Key = cmp.Or(r.Key, NewKey())
	}
	return c.patiently(ctx, func() (*Answer, error) { return c.once(ctx, &r, body, contentType) })
}

// Get reads the data of a resource into a value.
func (c *Client) Get(ctx context.Context, path string, query url.Values, into any) error {
	a, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path, Query: query})
	if err != nil {
		return err
	}
	return a.Data(into)
}

// encode returns the body and its media type.
func (r *Request) encode() ([]byte, string, error) {
	switch {
	case r.File != nil:
		return r.File.encode()
	case r.Body == nil:
		return nil, "", nil
	}
	text, err := json.Marshal(r.Body)
	return text, "application/json", err
}

// once sends the request and reads the answer.
func (c *Client) once(ctx context.Context, r *Request, body []byte, contentType string) (*Answer, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	target := strings.TrimSuffix(strings.TrimRight(c.Server, "/"), basePath) + basePath + r.Path
	if len(r.Query) > 0 {
		target += "?" + r.Query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.Token)
	request.Header.Set("User-Agent", cmp.Or(c.Agent, "waymark-client"))
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if r.Key != "" {
		request.Header.Set("Idempotency-Key", r.Key)
	}
	if r.Revision != "" {
		request.Header.Set("If-Match", `"`+r.Revision+`"`)
	}
	response, err := c.http().Do(request)
	if err != nil {
		return nil, &LostError{Key: r.Key, err: err}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, &LostError{Key: r.Key, err: err}
	}
	if len(text) > maxAnswer {
		return nil, fmt.Errorf("%s %s: the answer is larger than %d MiB", r.Method, r.Path, maxAnswer>>20)
	}
	a := &Answer{Status: response.StatusCode, Header: response.Header, Body: text}
	if a.Status < 200 || a.Status > 299 {
		e := refusal(a, target)
		if a.Status >= http.StatusInternalServerError {
			e.Key = r.Key
		}
		return nil, e
	}
	return a, nil
}

// Check refuses an address or a credential with which no call can be made.
func (c *Client) Check() error {
	u, err := url.Parse(c.Server)
	if err == nil && u.User != nil {
		return errors.New("the address of the server has a name or a password in it, which are not sent: leave them out")
	}
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
		return fmt.Errorf("the server %q is not an address such as https://waymark.example.com", c.Server)
	}
	if strings.ContainsFunc(c.Token, func(r rune) bool { return r < ' ' || r == '\x7f' }) {
		return errors.New("the credential has control characters, which no credential has: copy it again")
	}
	return nil
}

// standard does not follow redirects: they would change a method, or take the credential to
// another host.
var standard = &http.Client{
	Timeout:       time.Minute,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (c *Client) http() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return standard
}
