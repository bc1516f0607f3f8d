package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// The pauses between repetitions where the server does not say how long to wait.
const (
	firstPause = 200 * time.Millisecond
	longPause  = 5 * time.Second
	// standardPatience is Client.Patience unless it is set.
	standardPatience = 10 * time.Second
)

// patiently repeats a call while it may succeed later and the patience lasts.
func (c *Client) patiently(ctx context.Context, once func() (*Answer, error)) (*Answer, error) {
	patience := c.Patience
	if patience == 0 {
		patience = standardPatience
	}
	pause := firstPause
	for began := time.Now(); ; pause = min(2*pause, longPause) {
		a, err := once()
		if err == nil || !passes(err) {
			return a, err
		}
		// Several clients that were refused at the same instant come back at different ones.
		wait := pause/2 + rand.N(pause)
		var refused *Error
		if errors.As(err, &refused) && refused.RetryAfter > 0 {
			wait = refused.RetryAfter + rand.N(pause)
		}
		if time.Since(began)+wait > patience {
			return nil, err
		}
		if c.Waiting != nil {
			c.Waiting(wait, err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w before the call was repeated: %w", ctx.Err(), err)
		}
	}
}

// passes reports whether the same call may succeed later. Repeating it does no harm: reads
// change nothing, and mutations carry their key.
func passes(err error) bool {
	var refused *Error
	if errors.As(err, &refused) {
		switch refused.Status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
		return refused.Code == "operation_in_progress"
	}
	var lost *LostError
	if !errors.As(err, &lost) || errors.Is(err, context.Canceled) {
		return false
	}
	var unknown *net.DNSError
	var certificate *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	return !(errors.As(err, &unknown) && unknown.IsNotFound) && !errors.As(err, &certificate) &&
		!errors.As(err, &header) && !errors.As(err, &authority) && !errors.Is(err, http.ErrSchemeMismatch)
}
