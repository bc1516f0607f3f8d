package server

import (
	"errors"
	"net/http"
	"runtime/debug"
)

// errPanic stands for a panic in a handler: an internal error to the client.
var errPanic = errors.New("panic")

func stack() string { return string(debug.Stack()) }

// responseWriter remembers the status for the log line.
type responseWriter struct {
	http.ResponseWriter
	status int
	route  string
}

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
