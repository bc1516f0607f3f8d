package dnsprovider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/miekg/dns"
)

const (
	// answerLimit bounds what is read of an answer of the API, in bytes.
	answerLimit = 1 << 20
	// shownLimit bounds what an error repeats of it.
	shownLimit = 300
)

// statusError is an answer of the API that is not 2xx.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("the API answered %d: %s", e.code, e.text) }

// status returns the code of an answer that is not 2xx, 0 for other errors.
func status(err error) int {
	var e *statusError
	if errors.As(err, &e) {
		return e.code
	}
	return 0
}

// absent is the error of a call about a zone, which may not be there.
func absent(err error) error {
	if status(err) == http.StatusNotFound {
		return fmt.Errorf("%w: %w", ErrNoZone, err)
	}
	return err
}

func zonePath(zone string) string { return "/zones/" + dns.Fqdn(zone) }

// call calls the API and decodes its answer into out, unless that is nil.
func (p *PowerDNS) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, p.url+path, body)
	if err != nil {
		return err
	}
	request.Header.Set("X-API-Key", p.key)
	request.Header.Set("Content-Type", "application/json")
	response, err := p.client.Do(request)
	if err != nil {
		return cause(ctx, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, answerLimit+1))
	switch {
	case err != nil:
		return fmt.Errorf("the answer of the API broke off: %w", cause(ctx, err))
	case len(answer) > answerLimit:
		return fmt.Errorf("the answer of the API is longer than %d bytes", answerLimit)
	case response.StatusCode/100 != 2:
		return &statusError{response.StatusCode, told(answer)}
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer of the API cannot be read: %w", err)
	}
	return nil
}

// told returns the message of an answer that is not 2xx.
func told(answer []byte) string {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(answer, &e) != nil || e.Error == "" {
		e.Error = string(answer)
	}
	return fmt.Sprintf("%.*q", shownLimit, e.Error)
}
