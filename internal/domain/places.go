package domain

import "sync"

// maxPlaces is how many domains a process verifies at once, and ownerPlaces how many
// of one owner: slow domains of one do not delay those of others.
const maxPlaces, ownerPlaces = 16, 4

// places bound what goes on at once, in all and for each owner.
type places struct {
	// free receives when a place was given back.
	free chan struct{}

	mu sync.Mutex
	// owners counts the places taken, by owner.
	owners map[string]int
	taken  int
}

func newPlaces() *places { return &places{free: make(chan struct{}, 1), owners: map[string]int{}} }

// take takes a place for a domain of an owner, if there is one.
func (p *places) take(ownerID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken == maxPlaces || p.owners[ownerID] == ownerPlaces {
		return false
	}
	p.taken++
	p.owners[ownerID]++
	return true
}

func (p *places) giveBack(ownerID string) {
	p.mu.Lock()
	p.taken--
	if p.owners[ownerID]--; p.owners[ownerID] == 0 {
		delete(p.owners, ownerID)
	}
	p.mu.Unlock()
	select {
	case p.free <- struct{}{}:
	default:
	}
}

// left returns how many places are free, and the owners who have all of theirs.
func (p *places) left() (free int, full []any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for owner, taken := range p.owners {
		if taken == ownerPlaces {
			full = append(full, owner)
		}
	}
	return maxPlaces - p.taken, full
}
