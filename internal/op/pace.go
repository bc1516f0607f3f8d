package op

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/waymarkhq/waymark/internal/fault"
)

// A body must come in at some speed, as it holds a connection and, when it is an upload,
// a place: its first paceBytes within startTime, each further ones within paceTime, which
// are 8 KiB a second, and all of it within bodyTime.
const (
	startTime           = 5 * time.Second
	paceBytes, paceTime = 16 << 10, 2 * time.Second
	bodyTime            = 30 * time.Second
)

// paced is the body of a request that must keep pace.
type paced struct {
	body       io.Reader
	connection *http.ResponseController
	ends       time.Time
	// patience is for how long the bytes up to the next paceBytes may still be waited for;
	// got counts those that came.
	patience time.Duration
	got      int
}

// newPaced returns the body of a request that is answered to w.
func newPaced(w http.ResponseWriter, r *http.Request) *paced {
	return &paced{body: r.Body, connection: http.NewResponseController(w), ends: time.Now().Add(bodyTime),
		patience: startTime}
}

// Read implements io.Reader. It counts only the time in which it waits, so that
// who reads slowly takes none from the client.
func (p *paced) Read(b []byte) (int, error) {
	began := time.Now()
	until := began.Add(p.patience)
	if until.After(p.ends) {
		until = p.ends
	}
	// Not every writer has deadlines: one in a test has none.
	p.connection.SetReadDeadline(until)
	n, err := p.body.Read(b)
	p.patience -= time.Since(began)
	if p.got += n; p.got >= paceBytes {
		p.got, p.patience = 0, paceTime
	}
	if err == io.EOF { // the connection has other deadlines from here on
		p.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// incomplete is the refusal of a body that could not be read to its end.
func incomplete(err error) *fault.Error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fault.New(fault.InvalidRequest, "The body came in too slowly: send the first %d KiB within %d seconds, "+
			"the rest with at least %d KiB per second, and all of it within %d seconds.", paceBytes>>10,
			int(startTime.Seconds()), paceBytes>>10/int(paceTime.Seconds()), int(bodyTime.Seconds()))
	}
	return fault.New(fault.InvalidRequest, "The body could not be read.")
}
