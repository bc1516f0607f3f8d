package redirect

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/waymarkhq/waymark/internal/clientaddr"
	"github.com/waymarkhq/waymark/internal/clock"
)

// The events that are stored, by address and by link in each hour, and the referrers of a
// link that are new on a UTC day. Mobile networks put many phones behind one address, and
// a link may be shown on television: no honest traffic comes near.
const (
	addressEvents = 50_000
	linkEvents    = 1_000_000
	linkReferrers = 1_000
)

// boundSlots bounds the counters of a bound. Two keys may share one, rarely.
const boundSlots = 1 << 16

// bound counts by key in windows of time, in this process alone and about: a counter
// holds the number of its window and how many there were in it.
type bound struct {
	limit uint32
	slots [boundSlots]atomic.Uint64
}

// take counts one of a key, and reports whether it is within the bound.
func (b *bound) take(key uint64, window uint32) bool {
	slot := &b.slots[key%boundSlots]
	for {
		old := slot.Load()
		n := uint32(old)
		if uint32(old>>32) != window {
			n = 0
		}
		if n >= b.limit {
			return false
		}
		if slot.CompareAndSwap(old, uint64(window)<<32|uint64(n+1)) {
			return true
		}
	}
}

// flood is what keeps an event from being stored.
type flood int

const (
	noFlood flood = iota
	ofAddress
	ofLink
	floods
)

var floodNames = [floods]string{ofAddress: "address", ofLink: "link"}

// flooding tells which events are too many to be stored. It has no addresses: a counter
// is found by a hash whose seed nobody knows.
type flooding struct {
	seed            maphash.Seed
	addresses       bound
	links           bound
	referrersOfLink bound
	seen            seen
}

func newFlooding(scale float64) *flooding {
	f := &flooding{seed: maphash.MakeSeed()}
	for b, limit := range map[*bound]float64{
		&f.addresses: addressEvents, &f.links: linkEvents, &f.referrersOfLink: linkReferrers,
	} {
		b.limit = uint32(min(max(1, limit*scale), 1<<31))
	}
	return f
}

// event counts an event of a link and tells what keeps it from being stored. An address
// that is over its bound does not use up that of the link.
func (f *flooding) event(now clock.Instant, address netip.Addr, linkID string) flood {
	hour := uint32(int64(now) / time.Hour.Microseconds())
	if address.IsValid() {
		a := clientaddr.Network(address).As16()
		if !f.addresses.take(maphash.Bytes(f.seed, a[:]), hour) {
			return ofAddress
		}
	}
	if !f.links.take(maphash.String(f.seed, linkID), hour) {
		return ofLink
	}
	return noFlood
}

// referrer reports whether an event of a link may be stored with its referrer: each text is
// stored for good, and anybody can invent more.
func (f *flooding) referrer(now clock.Instant, linkID, referrer string) bool {
	day := uint32(int64(now) / (24 * time.Hour).Microseconds())
	link := maphash.String(f.seed, linkID)
	key := maphash.String(f.seed, referrer) ^ link*0x9e3779b97f4a7c15
	return f.seen.has(key, day) || f.referrersOfLink.take(link, day) && f.seen.add(key)
}

// seenWords bounds what seen remembers, in 1 MiB.
const seenWords = 1 << 17

// seen remembers the keys of a day, about: a key sets two bits of many, and what finds
// both of its bits set counts as seen.
type seen struct {
	day  atomic.Uint32
	bits [seenWords]atomic.Uint64
}

// has reports whether a key was added on a day. A new day forgets the one before.
func (s *seen) has(key uint64, day uint32) bool {
	if old := s.day.Load(); old != day && s.day.CompareAndSwap(old, day) {
		for i := range s.bits {
			s.bits[i].Store(0)
		}
	}
	has := true
	for _, at := range places(key) {
		has = has && s.bits[at/64].Load()&(1<<(at%64)) != 0
	}
	return has
}

// add adds a key to the day that has named last.
func (s *seen) add(key uint64) bool {
	for _, at := range places(key) {
		s.bits[at/64].Or(1 << (at % 64))
	}
	return true
}

// places returns the bits of a key.
func places(key uint64) [2]uint64 {
	return [2]uint64{key % (seenWords * 64), (key >> 32) % (seenWords * 64)}
}
