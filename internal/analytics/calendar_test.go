package analytics

import (
	"fmt"
	"slices"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/waymarkhq/waymark/internal/clock"
)

// zones have whole, half and quarter hours, days of 23 and 25 hours, clocks that change
// at midnight, by half an hour or two hours, or that lost a day.
var zones = []string{
	"UTC", "Europe/Berlin", "Europe/London", "Europe/Lisbon", "Europe/Dublin", "Europe/Istanbul", "Europe/Moscow",
	"Europe/Volgograd", "Europe/Chisinau", "Atlantic/Azores", "Atlantic/Reykjavik", "America/New_York", "America/Chicago",
	"America/Los_Angeles", "America/Phoenix", "America/Anchorage", "America/St_Johns", "America/Halifax",
	"America/Havana", "America/Sao_Paulo", "America/Asuncion", "America/Santiago", "America/Caracas", "America/Nuuk",
	"America/Scoresbysund", "America/Argentina/San_Luis", "Africa/Cairo", "Africa/Casablanca", "Africa/Juba",
	"Asia/Tehran", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Colombo", "Asia/Pyongyang", "Asia/Gaza", "Asia/Beirut",
	"Asia/Amman", "Asia/Dhaka", "Asia/Tokyo", "Australia/Adelaide", "Australia/Lord_Howe", "Australia/Eucla",
	"Australia/Sydney", "Pacific/Apia", "Pacific/Chatham", "Pacific/Kiritimati", "Pacific/Kwajalein", "Pacific/Norfolk",
	"Antarctica/Troll", "Antarctica/Casey", "Pacific/Easter", "Pacific/Fiji",
}

// shows returns the label of what clocks show, made in another way than units does.
func shows(local time.Time, g granularity) string {
	switch g {
	case hours:
		return local.Format("2006-01-02T15:00")
	case weeks:
		year, week := local.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case months:
		return local.Format("2006-01")
	}
	return local.Format("2006-01-02")
}

// watched divides a period into units by looking at the clocks again and again. A unit
// once begun goes on when the clocks are put back to the one before it.
func watched(start, end time.Time, g granularity) (all []Unit) {
	step := time.Minute
	if g == weeks || g == months {
		step = 15 * time.Minute
	}
	offsets := map[string]map[string]bool{} // of each hour
	for at := start.Add(-day); g == hours && at.Before(end.Add(day)); at = at.Add(time.Minute) {
		label := shows(at, g)
		if offsets[label] == nil {
			offsets[label] = map[string]bool{}
		}
		offsets[label][at.Format("-07:00")] = true
	}
	for at := start; at.Before(end); at = at.Add(step) {
		label := shows(at, g)
		if len(offsets[label]) > 1 {
			label += at.Format("-07:00")
		}
		if n := len(all); n == 0 || g == hours && label != all[n-1].LocalLabel || label > all[n-1].LocalLabel {
			all = append(all, Unit{clock.At(at), label})
		}
	}
	return all
}

// changes returns the minutes at which the clocks of a zone are put forward or back.
func changes(zone *time.Location, from, until time.Time) (all []time.Time) {
	before := offset(from.In(zone))
	for at := from; at.Before(until); at = at.Add(15 * time.Minute) {
		if now := offset(at.In(zone)); now != before {
			minute := at.Add(-15 * time.Minute)
			for offset(minute.In(zone)) == before {
				minute = minute.Add(time.Minute)
			}
			all, before = append(all, minute), now
		}
	}
	return all
}

// Units are what somebody sees who watches the clocks, around each change of them.
func TestUnitsAreWhatClocksShow(t *testing.T) {
	if len(zones) < 50 {
		t.Fatalf("only %d zones", len(zones))
	}
	seen := 0
	for _, name := range zones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
		around := append(changes(zone, year(2005), year(2012)), changes(zone, year(2025), year(2028))...)
		seen += len(around)
		for _, at := range append(around, year(2026), year(2027)) {
			for g, reach := range map[granularity]time.Duration{hours: day, days: 3 * day, weeks: 9 * day, months: 33 * day} {
				middle := at.In(zone).Truncate(15 * time.Minute)
				start, end := middle.Add(-reach-15*time.Minute), middle.Add(reach+11*time.Minute)
				got, want := units(clock.At(start), clock.At(end), zone, g), watched(start, end, g)
				if !slices.Equal(got, want) {
					t.Fatalf("%s by %s around %s:\n got %v\nwant %v", name, g, at.In(zone), got, want)
				}
			}
		}
	}
	if seen < 500 {
		t.Errorf("only %d changes of clocks were seen", seen)
	}
}

// Units of known days.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		zone, start, end string
		by               granularity
		want             string
	}{
		{"UTC", "2026-11-20T12:30:00Z", "2026-11-20T14:00:00Z", hours, "12:30Z 2026-11-20T12:00, 13:00Z 2026-11-20T13:00"},
		{"UTC", "2026-11-20T23:59:59.999999Z", "2026-11-21T00:00:00.000001Z", days, "23:59Z 2026-11-20, 00:00Z 2026-11-21"},
		{"UTC", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z", days, "00:00Z 2026-11-20"},
		// An hour that clocks show twice, whole, and with the second one alone in the period.
		{"Europe/Berlin", "2026-10-24T23:00:00Z", "2026-10-25T03:00:00Z", hours, "23:00Z 2026-10-25T01:00, " +
			"00:00Z 2026-10-25T02:00+02:00, 01:00Z 2026-10-25T02:00+01:00, 02:00Z 2026-10-25T03:00"},
		{"Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T02:00:00Z", hours, "01:30Z 2026-10-25T02:00+01:00"},
		{"Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-26T23:00:00Z", days, "22:00Z 2026-10-25, 23:00Z 2026-10-26"},
		{"Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-30T22:00:00Z", days, "23:00Z 2026-03-29, 22:00Z 2026-03-30"},
		{"Europe/Berlin", "2026-03-29T00:00:00Z", "2026-03-29T02:00:00Z", hours,
			"00:00Z 2026-03-29T01:00, 01:00Z 2026-03-29T03:00"},
		// Half an hour forth and back.
		{"Australia/Lord_Howe", "2026-10-03T14:30:00Z", "2026-10-03T17:00:00Z", hours,
			"14:30Z 2026-10-04T01:00, 15:30Z 2026-10-04T02:00, 16:00Z 2026-10-04T03:00"},
		{"Australia/Lord_Howe", "2026-04-04T14:00:00Z", "2026-04-04T16:30:00Z", hours, "14:00Z 2026-04-05T01:00+11:00, " +
			"15:00Z 2026-04-05T01:00+10:30, 15:30Z 2026-04-05T02:00"},
		// Two hours, and so two hours twice.
		{"Antarctica/Troll", "2026-10-24T23:00:00Z", "2026-10-25T03:30:00Z", hours, "23:00Z 2026-10-25T01:00+02:00, " +
			"00:00Z 2026-10-25T02:00+02:00, 01:00Z 2026-10-25T01:00+00:00, 02:00Z 2026-10-25T02:00+00:00, " +
			"03:00Z 2026-10-25T03:00"},
		{"Asia/Kathmandu", "2026-11-20T18:00:00Z", "2026-11-20T19:30:00Z", hours,
			"18:00Z 2026-11-20T23:00, 18:15Z 2026-11-21T00:00, 19:15Z 2026-11-21T01:00"},
		// Days without midnight, and days whose midnight comes twice.
		{"Asia/Beirut", "2026-03-27T22:00:00Z", "2026-03-29T21:00:00Z", days, "22:00Z 2026-03-28, 22:00Z 2026-03-29"},
		{"America/Havana", "2026-10-31T04:00:00Z", "2026-11-02T05:00:00Z", days, "04:00Z 2026-10-31, 04:00Z 2026-11-01"},
		{"America/Sao_Paulo", "2018-11-03T03:00:00Z", "2018-11-05T02:00:00Z", days, "03:00Z 2018-11-03, 03:00Z 2018-11-04"},
		// A day that was skipped, and the week and the month around it.
		{"Pacific/Apia", "2011-12-29T10:00:00Z", "2012-01-01T10:00:00Z", days,
			"10:00Z 2011-12-29, 10:00Z 2011-12-31, 10:00Z 2012-01-01"},
		{"Pacific/Apia", "2011-12-24T10:00:00Z", "2012-01-02T10:00:00Z", weeks, "10:00Z 2011-W51, 10:00Z 2011-W52, 10:00Z 2012-W01"},
		// Weeks of ISO 8601 belong to the year of their Thursday.
		{"UTC", "2026-12-27T00:00:00Z", "2027-01-05T00:00:00Z", weeks, "00:00Z 2026-W52, 00:00Z 2026-W53, 00:00Z 2027-W01"},
		{"America/New_York", "2026-01-31T12:00:00Z", "2026-04-01T05:00:00Z", months,
			"12:00Z 2026-01, 05:00Z 2026-02, 05:00Z 2026-03, 04:00Z 2026-04"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		var start, end clock.Instant
		if start, err = clock.Parse(c.start); err == nil {
			end, err = clock.Parse(c.end)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, u := range units(start, end, zone, c.by) {
			if i > 0 {
				got += ", "
			}
			got += u.Start.Time().Format("15:04Z ") + u.LocalLabel
		}
		if got != c.want {
			t.Errorf("%s from %s to %s by %s:\n got %s\nwant %s", c.zone, c.start, c.end, c.by, got, c.want)
		}
	}
}

// However a period lies, it is divided without gaps into units that are not empty, and
// not into more than an answer may have.
func FuzzUnits(f *testing.F) {
	f.Add(int64(1_772_000_000_000_000), uint32(40_000), uint8(1), uint8(0))
	f.Fuzz(func(t *testing.T, from int64, seconds uint32, zoneAt, by uint8) {
		zone, err := time.LoadLocation(zones[int(zoneAt)%len(zones)])
		if err != nil {
			t.Fatal(err)
		}
		g := []granularity{hours, days, weeks, months}[by%4]
		longest := maxRange
		if g == hours {
			longest = maxHours + time.Hour
		}
		start := clock.Instant(from & (1<<52 - 1)) // until 2112
		end := start.Add(min(time.Duration(seconds)*time.Second, longest)) + 1
		all := units(start, end, zone, g)
		if len(all) == 0 || all[0].Start != start || len(all) > 800 {
			t.Fatalf("%d units: %v", len(all), all[:min(len(all), 3)])
		}
		b, labels := bounds(all, end), map[string]bool{}
		for i, u := range all {
			if b[i] >= b[i+1] {
				t.Fatalf("unit %d of %v is from %s to %s", i, all, b[i], b[i+1])
			}
			if labels[u.LocalLabel] {
				t.Fatalf("two units are %s", u.LocalLabel)
			}
			labels[u.LocalLabel] = true
		}
	})
}
