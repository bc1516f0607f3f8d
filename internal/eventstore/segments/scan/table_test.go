package scan

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestNumbering(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	n := newNumbering()
	for _, size := range []int{10, 100_000, 5} {
		known := map[int64]int32{}
		for range size {
			value := random.Int64N(int64(size)) - 2
			if random.IntN(9) == 0 {
				value = pick(random, []int64{math.MinInt64, math.MaxInt64, 0, spread & math.MaxInt64})
			}
			want, ok := known[value]
			if !ok {
				want = -1
			}
			if got := n.find(value); got != want {
				t.Fatalf("%d has number %d, want %d", value, got, want)
			}
			if !ok {
				want = int32(len(known))
				known[value] = want
			}
			if got := n.number(value); got != want {
				t.Fatalf("%d gets number %d, want %d", value, got, want)
			}
		}
		before := n.clone()
		before.number(size2)
		if n.find(size2) >= 0 || before.find(size2) != int32(len(known)) {
			t.Error("a number given by a clone is known to the original")
		}
		n.reset()
		if n.find(-2) >= 0 || n.find(0) >= 0 {
			t.Error("a number is left after reset")
		}
	}
}

// size2 is a value that TestNumbering does not number otherwise.
const size2 = 1 << 40

func TestDistinct(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var d distinct
	for _, c := range []struct{ groups, things int32 }{{1, 10}, {33, 40}, {300, 300}, {31, 5}, {2000, 3}} {
		d.reset(0)
		seen := map[[2]int32]bool{}
		for i := range 20_000 {
			group, thing := random.Int32N(c.groups), random.Int32N(1+c.things*int32(i)/20_000)
			d.grow(int(thing) + 1)
			pair := [2]int32{group, thing}
			if got := d.add(group, thing); got == seen[pair] {
				t.Fatalf("%v: pair %v is new: %t", c, pair, got)
			}
			seen[pair] = true
		}
	}
}

// Tables that were large once do not stay so.
func TestTablesShrink(t *testing.T) {
	n := newNumbering()
	var p pairs
	for i := range int32(100_000) {
		n.number(int64(i))
		p.add(i, i)
	}
	for range 2 { // the first round was full
		n.reset()
		p.reset()
		n.number(1)
		p.add(1, 1)
	}
	n.reset()
	p.reset()
	if len(n.slots) > keptSlots || len(p.slots) > keptSlots {
		t.Errorf("%d and %d slots are left", len(n.slots), len(p.slots))
	}
}
