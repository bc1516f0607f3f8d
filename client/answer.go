package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Answer is what an operation answered.
type Answer struct {
	Status int
	Header http.Header
	// Body is the envelope of the contract, or the bytes of a file.
	Body []byte
}

// Envelope is a success in JSON, as the contract has it.
type Envelope struct {
	Data json.RawMessage `json:"data"`
	Meta struct {
		RequestID string `json:"requestId"`
	} `json:"meta"`
	// Pagination is nil where the answer is not a page.
	Pagination *struct {
		HasMore    bool   `json:"hasMore"`
		NextCursor string `json:"nextCursor"`
	} `json:"pagination"`
}

// Envelope returns the parts of an answer in JSON.
func (a *Answer) Envelope() (e Envelope, err error) {
	if len(a.Body) == 0 {
		return e, nil
	}
	if err := json.Unmarshal(a.Body, &e); err != nil {
		return e, fmt.Errorf("read the answer: %w", err)
	}
	return e, nil
}

// Data decodes the data of an answer in JSON into a value, which may be nil.
func (a *Answer) Data(into any) error {
	e, err := a.Envelope()
	if err != nil || len(e.Data) == 0 || into == nil {
		return err
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("read the data of the answer: %w", err)
	}
	return nil
}

// Revision returns the revision of the resource, for Request.Revision; "" when the answer has none. A
// proxy that compresses answers has marked their ETag as weak, which If-Match must not be.
func (a *Answer) Revision() string {
	return strings.Trim(strings.TrimPrefix(a.Header.Get("ETag"), "W/"), `"`)
}

// IsJSON reports whether the answer is in JSON; other answers are files.
func (a *Answer) IsJSON() bool {
	return strings.HasPrefix(a.Header.Get("Content-Type"), "application/json")
}
