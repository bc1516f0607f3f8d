package analytics

import (
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
)

// granularity names the units of a calendar, as getAnalyticsTimeseries does.
type granularity string

const (
	hours  granularity = "hour"
	days   granularity = "day"
	weeks  granularity = "week" // of ISO 8601: from Monday on
	months granularity = "month"
)

const dayLabel = "2006-01-02"

// Unit is the part of a period that lies in one hour, day, week or month.
type Unit struct {
	Start      clock.Instant `json:"start" format:"date-time" doc:"Where the hour, day, week or month begins in the time zone, or the start of the period if that is later. The bucket ends where the next one starts."`
	LocalLabel string        `json:"localLabel" maxLength:"25" doc:"2026-11-20T13:00, 2026-11-20, 2026-W47 or 2026-11. An hour that clocks show twice has its offset from UTC: 2026-10-25T02:00+02:00."`
}

// units divides the period from start to end by the calendar of a zone. The first and
// the last unit are cut at its ends. None is empty.
//
// A day, week or month begins at the first instant at which the zone's clocks show its
// date: at 01:00 where they are put forward at midnight. A date that they skip has no
// unit. An hour ends where they show the next one, or are put forward or back: one that
// they show twice makes two units, whose labels have the offset from UTC.
func units(start, end clock.Instant, zone *time.Location, g granularity) (all []Unit) {
	for at := start; at < end; {
		local := at.Time().In(zone)
		begin, label := unitOf(local, g)
		all = append(all, Unit{at, label})
		next := first(local, nextUnit(begin, g))
		if _, changed := local.ZoneBounds(); g == hours && jumps(changed) && changed.Before(next) {
			next = changed
		}
		at = clock.At(next)
	}
	return all
}

// bounds returns the starts of units and the end of the last.
func bounds(units []Unit, end clock.Instant) []clock.Instant {
	all := make([]clock.Instant, len(units)+1)
	for i := range units {
		all[i] = units[i].Start
	}
	all[len(units)] = end
	return all
}

// unitOf returns what clocks show at the begin of the unit in which local lies, as if
// they were those of UTC, and the unit's label.
func unitOf(local time.Time, g granularity) (begin time.Time, label string) {
	shown := clocks(local)
	switch date := shown.Truncate(day); g {
	case hours:
		begin = shown.Truncate(time.Hour)
		label = begin.Format("2006-01-02T15:04")
		if repeated(local, begin) {
			label += local.Format("-07:00")
		}
	case weeks:
		begin = date.AddDate(0, 0, -(int(date.Weekday())+6)%7)
		year, week := date.ISOWeek()
		label = fmt.Sprintf("%d-W%02d", year, week)
	case months:
		begin = date.AddDate(0, 0, 1-date.Day())
		label = begin.Format("2006-01")
	default:
		begin = date
		label = begin.Format(dayLabel)
	}
	return begin, label
}

func nextUnit(begin time.Time, g granularity) time.Time {
	switch g {
	case hours:
		return begin.Add(time.Hour)
	case weeks:
		return begin.AddDate(0, 0, 7)
	case months:
		return begin.AddDate(0, 1, 0)
	}
	return begin.AddDate(0, 0, 1)
}

// offset returns how far the clocks of a zone are ahead of those of UTC.
func offset(local time.Time) time.Duration {
	_, seconds := local.Zone()
	return time.Duration(seconds) * time.Second
}

// clocks returns what the clocks of a zone show at an instant, as a time in UTC.
func clocks(local time.Time) time.Time { return local.UTC().Add(offset(local)) }

// jumps reports whether clocks are put forward or back at an instant that ZoneBounds
// returned: what changes may be just the name of the zone's time.
func jumps(changed time.Time) bool {
	return !changed.IsZero() && offset(changed) != offset(changed.Add(-1))
}

// first returns the first instant from local on at which the clocks of its zone show a
// time, or a later one.
func first(local, shown time.Time) time.Time {
	for {
		at := local.Add(max(0, shown.Sub(clocks(local))))
		_, changed := local.ZoneBounds()
		if changed.IsZero() || at.Before(changed) {
			return at
		}
		local = changed
	}
}

// repeated reports whether clocks show a part of the hour in which local lies, and
// which begins at begin, at another offset too.
func repeated(local, begin time.Time) bool {
	from, until := local.ZoneBounds()
	return jumps(from) && begin.Before(from.UTC().Add(offset(from.Add(-1)))) ||
		jumps(until) && begin.Add(time.Hour).After(clocks(until))
}
