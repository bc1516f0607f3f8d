package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

const (
	// announceFor is how long connections are still accepted while answers end theirs, so
	// that proxies come with no further request on one that is about to be closed.
	announceFor = 2 * time.Second
	// lastFor is how long connections that were accepted last have for their request.
	lastFor = 500 * time.Millisecond
	// drainFor bounds how long requests under way may take at the end.
	drainFor = 15 * time.Second
	// awayFor is how long the end waits for a database that does not answer.
	awayFor = 4 * time.Second
	// lookEvery is how often the end looks how far it is.
	lookEvery = 20 * time.Millisecond
)

// stop drains the listeners, then ends the installation and the rest in reverse order of
// its start: everything before the database, and the database before its folder. A database
// that is away is not waited for: what is under way is as safe as in a crash.
func (p *process) stop() (err error) {
	answered, cancel := p.answered()
	defer cancel()
	p.drain(answered)
	if p.installation != nil {
		closed := make(chan error, 1)
		go func() { closed <- p.installation.Close() }()
		select {
		case err = <-closed:
		case <-answered.Done():
			p.log.Warn("ended without the database, which does not answer; what was under way goes on at the next start")
			return nil
		}
	}
	cancel()
	for _, stop := range slices.Backward(p.stops) {
		err = errors.Join(err, stop())
	}
	return err
}

// answered returns a context that ends when the database has not answered for awayFor.
func (p *process) answered() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	if p.db == nil {
		return ctx, cancel
	}
	go func() {
		defer cancel()
		for last := time.Now(); ctx.Err() == nil && time.Since(last) < awayFor; {
			asking, stop := context.WithDeadline(ctx, last.Add(awayFor))
			if p.db.Urgent().Ping(asking) == nil {
				last = time.Now()
			}
			stop()
			waitFor(ctx, 10*lookEvery, func() bool { return false })
		}
	}()
	return ctx, cancel
}

// drain ends the listeners so that no call fails. At first they still accept, but tell
// that they are not ready, and each answer ends its connection. Then those without a request are
// closed, and no others are accepted. The rest end with their answers.
func (p *process) drain(answered context.Context) {
	ctx, cancel := context.WithTimeout(answered, drainFor)
	defer cancel()
	if p.installation != nil {
		p.installation.Drain()
	}
	serving := slices.DeleteFunc(slices.Clone(p.listeners), func(l *listener) bool { return l.server == nil })
	for _, l := range serving {
		l.accepting.Drain()
	}
	unused := func() bool {
		return !slices.ContainsFunc(serving, func(l *listener) bool {
			active, idle := l.accepting.Open()
			return active+idle > 0
		})
	}
	closeIdle := func() {
		for _, l := range serving {
			l.accepting.CloseIdle()
		}
	}
	waitFor(ctx, announceFor, unused)
	closeIdle()
	for _, l := range p.listeners {
		l.close()
	}
	for _, l := range serving {
		select {
		case <-l.ended:
		case <-ctx.Done():
		}
	}
	waitFor(ctx, lastFor, unused)
	closeIdle()
	var draining sync.WaitGroup
	for _, l := range serving {
		draining.Go(func() {
			if err := l.server.Shutdown(ctx); err != nil {
				l.server.Close()
			}
		})
	}
	draining.Wait()
}

// waitFor waits until something holds, for some time at most.
func waitFor(ctx context.Context, most time.Duration, holds func() bool) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for ctx.Err() == nil && !holds() {
		select {
		case <-ctx.Done():
		case <-time.After(lookEvery):
		}
	}
}
