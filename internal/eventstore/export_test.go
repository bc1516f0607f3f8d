package eventstore

import "fmt"

// Restore gives u counts of a number of apps back, as after a failure.
func (u *Unstoring) Restore(apps int) {
	clicks := map[appDay]int64{}
	for i := range apps {
		clicks[appDay{fmt.Sprint("restored", i), 0}] = 1
	}
	u.restore(clicks)
}
