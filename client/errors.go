package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Error is a refusal of the server. Code and Details are the contract's
// (docs/api/errors on every installation explains them).
type Error struct {
	Status     int           `json:"-"`
	Code       string        `json:"code"`
	Message    string        `json:"message"`
	RequestID  string        `json:"requestId"`
	Details    []Detail      `json:"details"`
	RetryAfter time.Duration `json:"-"`
	// Key is the Idempotency-Key of a mutation that may have happened all the same: the server failed
	// (a status from 500 on). It is "" otherwise.
	Key string `json:"-"`
}

// Detail points at one part of the request that was refused.
type Detail struct {
	// Path is a JSON Pointer into the body, query.<name> or header.<name>.
	Path    string `json:"path"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error returns what was wrong, as the server says it.
func (e *Error) Error() string {
	if e.RequestID == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (%s, request %s)", e.Message, e.Code, e.RequestID)
}

// LostError tells that no whole answer came. A mutation may have happened: the same call with
// the same Key happens once.
type LostError struct {
	// Key is the Idempotency-Key of the mutation, "" for a read.
	Key string
	err error
}

// Error returns why no answer came.
func (e *LostError) Error() string { return "no answer from the server: " + e.err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.err }

// RepeatKey returns the Idempotency-Key of a mutation of which err leaves open whether it happened. The
// same call with this key happens once. It is "" where nothing happened.
func RepeatKey(err error) string {
	var lost *LostError
	var refused *Error
	switch {
	case errors.As(err, &lost):
		return lost.Key
	case errors.As(err, &refused):
		return refused.Key
	}
	return ""
}

// refusal returns the error of an answer that is no success. An answer that is not from
// Waymark, such as a proxy's, has no code.
func refusal(a *Answer, target string) *Error {
	var envelope struct {
		Error *Error `json:"error"`
	}
	e := &Error{}
	if json.Unmarshal(a.Body, &envelope) == nil && envelope.Error != nil && envelope.Error.Code != "" {
		e = envelope.Error
	} else if to := a.Header.Get("Location"); to != "" && a.Status < 400 {
		e.Message = fmt.Sprintf("%s redirects to %s: give that server instead", target, to)
	} else {
		e.Message = fmt.Sprintf("%s answers %d %s, which is no answer of Waymark", target, a.Status, http.StatusText(a.Status))
	}
	e.Status = a.Status
	if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
