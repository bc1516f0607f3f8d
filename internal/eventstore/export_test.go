package eventstore

import "fmt"

// KnowApps makes s know the numbers of that many more apps; KnownApps is how many it knows.
func (s *Numbers) KnowApps(more int) {
	for i := range more {
		s.known[apps][fmt.Sprint("known", i)] = int64(i)
	}
}

func (s *Numbers) KnownApps() int { return len(s.known[apps]) }

// Restore gives u counts of a number of apps back, as after a failure.
func (u *Unstoring) Restore(apps int) {
	clicks := map[appDay]int64{}
	for i := range apps {
		clicks[appDay{fmt.Sprint("restored", i), 0}] = 1
	}
	u.restore(clicks)
}
