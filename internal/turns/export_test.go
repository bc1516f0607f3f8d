package turns

// Accounts returns how many accounts are remembered.
func (t *Pool) Accounts() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.accounts)
}
