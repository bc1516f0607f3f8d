package listen

import (
	"net"
	"net/http"
	"time"
)

// enter finds room for c, and reports whether there is any.
func (l *Listener) enter(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.client.IsValid() && l.addresses[c.client] >= l.PerAddress {
		l.Closed(Address)
		idle, _ := l.longestIdle(func(other *conn) bool { return other.client == c.client })
		if idle == nil {
			return false
		}
		l.end(idle)
	}
	for l.open.Len() >= l.Max && !l.closed {
		idle, wait := l.longestIdle(func(*conn) bool { return true })
		if idle == nil {
			l.wait(wait)
			continue
		}
		l.Closed(Connections)
		l.end(idle)
	}
	if l.open.Len() >= l.Max {
		return false
	}
	c.since, c.place = time.Now(), l.open.PushBack(c)
	l.waiting++
	if c.client.IsValid() {
		l.addresses[c.client]++
	}
	return true
}

// longestIdle returns the connection that has waited longest among some. If there is none
// but for new ones, it returns when there may be.
func (l *Listener) longestIdle(among func(*conn) bool) (idle *conn, wait time.Duration) {
	for e := l.open.Front(); e != nil; e = e.Next() {
		c := e.Value.(*conn)
		if c.state == http.StateActive || !among(c) {
			continue
		}
		left := firstFor - time.Since(c.since)
		if c.state == http.StateIdle || left <= 0 {
			return c, 0
		}
		if wait == 0 {
			wait = left
		}
	}
	return nil, wait
}

// wait waits until something has changed, or for as long as told.
func (l *Listener) wait(most time.Duration) {
	if most > 0 {
		defer time.AfterFunc(most, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.changed.Signal()
		}).Stop()
	}
	l.changed.Wait()
}

// end closes an open connection.
func (l *Listener) end(c *conn) {
	l.remove(c)
	c.TCPConn.Close()
}

// remove takes c off the open ones, if it is one.
func (l *Listener) remove(c *conn) {
	if c.place == nil {
		return
	}
	l.open.Remove(c.place)
	c.place = nil
	if c.state != http.StateActive {
		l.waiting--
	}
	if l.addresses[c.client] > 1 {
		l.addresses[c.client]--
	} else {
		delete(l.addresses, c.client)
	}
	l.changed.Signal()
}

// Track is the ConnState of the server.
func (l *Listener) Track(of net.Conn, state http.ConnState) {
	c := tracked(of)
	if c == nil || state != http.StateActive && state != http.StateIdle {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.place == nil {
		return
	}
	switch was := c.state == http.StateActive; {
	case was && state == http.StateIdle:
		l.waiting++
		l.changed.Signal()
	case !was && state == http.StateActive:
		l.waiting--
	}
	c.state = state
	l.open.MoveToBack(c.place)
}

// Open returns how many connections have a request under way, and how many wait for one.
func (l *Listener) Open() (active, idle int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open.Len() - l.waiting, l.waiting
}

// CloseIdle closes the connections that wait for a request, but for new ones.
func (l *Listener) CloseIdle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		idle, _ := l.longestIdle(func(*conn) bool { return true })
		if idle == nil {
			return
		}
		l.end(idle)
	}
}
