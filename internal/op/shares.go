package op

import (
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
}

func newShares(all, each int64) *shares {
	return &shares{all: all, each: each, accounts: map[string]int64{}}
}

// take takes n for an account, if there is so much, and returns how it is given back.
func (s *shares) take(account string, n int64) (giveBack func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.room(account, n) {
		return nil, false
	}
	s.taken += n
	s.accounts[account] += n
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken -= n
		if s.accounts[account] -= n; s.accounts[account] == 0 {
			delete(s.accounts, account)
		}
	}, true
}

// has reports whether an account could take n now.
func (s *shares) has(account string, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.room(account, n)
}

func (s *shares) room(account string, n int64) bool {
	if s.taken+n > s.all || s.accounts[account]+n > s.each {
		s.refused++
		return false
	}
	return true
}

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
