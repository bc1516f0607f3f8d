// Package places bounds what goes on at once, in all and for each owner, so that
// the slow work of one owner leaves room for that of the others.
package places

import "sync"

// Places are the room that a kind of work has. They are safe for concurrent use.
type Places struct {
	all, each int
	freed     chan struct{}

	mu sync.Mutex
	// owners counts the places taken, by owner.
	owners map[string]int
	taken  int
}

// New returns a number of places in all, of which each owner may take some. It panics when
// those are more.
func New(all, each int) *Places {
	if each > all {
		panic("an owner has more places than there are")
	}
	return &Places{all: all, each: each, freed: make(chan struct{}, 1), owners: map[string]int{}}
}

// Take takes a place for work of an owner, if there is one. Whoever got it gives
// it back.
func (p *Places) Take(owner string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken == p.all || p.owners[owner] == p.each {
		return false
	}
	p.taken++
	p.owners[owner]++
	return true
}

// GiveBack gives back a place that was taken for an owner.
func (p *Places) GiveBack(owner string) {
	p.mu.Lock()
	p.taken--
	if p.owners[owner]--; p.owners[owner] == 0 {
		delete(p.owners, owner)
	}
	p.mu.Unlock()
	select {
	case p.freed <- struct{}{}:
	default:
	}
}

// Freed receives after places were given back, once for any number of them.
func (p *Places) Freed() <-chan struct{} { return p.freed }

// Left returns how many places are free, and the owners who have all of theirs.
func (p *Places) Left() (free int, full []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for owner, taken := range p.owners {
		if taken == p.each {
			full = append(full, owner)
		}
	}
	return p.all - p.taken, full
}
