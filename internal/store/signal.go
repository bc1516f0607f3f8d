package store

import "sync"

// signals wake waiting parts of this process when something they look for was
// committed. They are a shortcut, never the only way: other processes poll.
type signals struct {
	mu      sync.Mutex
	waiting map[string][]chan struct{}
}

// Listen returns a channel that receives after each commit that signalled one of
// the topics. Signals that come while one is pending are merged with it.
func (db *DB) Listen(topics ...string) <-chan struct{} {
	c := make(chan struct{}, 1)
	db.signals.mu.Lock()
	defer db.signals.mu.Unlock()
	if db.signals.waiting == nil {
		db.signals.waiting = map[string][]chan struct{}{}
	}
	for _, topic := range topics {
		db.signals.waiting[topic] = append(db.signals.waiting[topic], c)
	}
	return c
}

// Signal wakes the listeners of a topic once the transaction is committed.
func (tx *Tx) Signal(topic string) { tx.AfterCommit(func() { tx.db.signals.send(topic) }) }

func (s *signals) send(topic string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.waiting[topic] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
