package eventstore

// Apps returns how many apps are remembered.
func (t *Turns) Apps() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.apps)
}
