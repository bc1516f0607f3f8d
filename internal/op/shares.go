package op

import (
	"context"
	"sync"

	"github.com/waymarkhq/waymark/internal/fault"
)

// shares bound what is in use at once: in all, and by one account, so that no account
// takes what others need. More credentials do not give an account more.
type shares struct {
	all, each int64

	mu    sync.Mutex
	taken int64
	// accounts has what each account uses, without those that use nothing.
	accounts map[string]int64
	refused  int64
	// freed is closed when something is given back.
	freed chan struct{}
}

func newShares(all, each int64) *shares {
	if each > all {
		panic("an account has more than there is")
	}
	return &shares{all: all, each: each, accounts: map[string]int64{}, freed: make(chan struct{})}
}

// share is what one call took.
type share struct {
	of      *shares
	account string
	n       int64
}

// take takes n for an account, if there is so much.
func (s *shares) take(account string, n int64) (taken *share, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if taken, ok = s.try(account, n); !ok {
		s.refused++
	}
	return taken, ok
}

// wait is take that waits until there is so much, or ctx ends.
func (s *shares) wait(ctx context.Context, account string, n int64) (taken *share, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if taken, ok = s.try(account, n); ok {
			return taken, true
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
			s.mu.Lock()
		case <-ctx.Done():
			s.mu.Lock()
			s.refused++
			return nil, false
		}
	}
}

func (s *shares) try(account string, n int64) (*share, bool) {
	if s.taken+n > s.all || s.accounts[account]+n > s.each {
		return nil, false
	}
	s.taken += n
	s.accounts[account] += n
	return &share{s, account, n}, true
}

// shrink gives back what a share has beyond n. A share that was not taken has nothing.
func (h *share) shrink(n int64) {
	if h == nil || h.n <= n {
		return
	}
	s, less := h.of, h.n-n
	s.mu.Lock()
	defer s.mu.Unlock()
	h.n = n
	s.taken -= less
	if s.accounts[h.account] -= less; s.accounts[h.account] == 0 {
		delete(s.accounts, h.account)
	}
	close(s.freed)
	s.freed = make(chan struct{})
}

// giveBack gives back all of a share.
func (h *share) giveBack() { h.shrink(0) }

// Share is what is in use of something that is bounded.
type Share struct {
	Taken int64
	// Refused counts those who found too little.
	Refused int64
}

func (s *shares) load() Share {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Share{s.taken, s.refused}
}

// Load is what the calls under way use.
type Load struct {
	// Calls and Uploads are those under way, Answers the bytes that are being written.
	Calls, Uploads, Answers Share
	// Unread counts the answers that their clients did not read to the end, FullReceipts
	// the mutations that were refused because of the bytes of receipts.
	Unread, FullReceipts int64
}

// Load returns what the calls under way use.
func (p *Pipeline) Load() Load {
	p.receipts.mu.Lock()
	defer p.receipts.mu.Unlock()
	return Load{p.calls.load(), p.uploads.load(), p.sending.load(), p.unread.Load(), p.receipts.refused}
}

// busy refuses a call for which something has no room at the moment.
func busy(format string, args ...any) error {
	refusal := fault.New(fault.Unavailable, format, args...)
	refusal.RetryAfter = 1
	return refusal
}
