package main

import (
	"os/exec"
	"testing"
	"time"
)

// Versions of packages have the order in which they were made, for dpkg and for rpm.
func TestPackageVersion(t *testing.T) {
	at := func(day int) time.Time { return time.Date(2026, 11, day, 1, 2, 3, 0, time.UTC) }
	last := ""
	for _, c := range []struct {
		described string
		at        time.Time
		want      string
	}{
		{"f28a16f26ab3", at(1), "0.0.0+20261101010203.f28a16f26ab3"},
		{"928a16f26ab3-dirty", at(2), "0.0.0+20261102010203.928a16f26ab3.dirty"},
		{"v0.1.0-rc.1", at(3), "0.1.0~rc.1"},
		{"v0.1.0-rc.1-7-g928a16f26ab3", at(3), "0.1.0~rc.1+7.g928a16f26ab3"},
		{"v0.1.0-rc.2", at(3), "0.1.0~rc.2"},
		{"v0.1.0", at(4), "0.1.0"},
		{"v0.1.0-9-g928a16f26ab3", at(5), "0.1.0+9.g928a16f26ab3"},
		{"v0.1.0-10-g128a16f26ab3-dirty", at(6), "0.1.0+10.g128a16f26ab3.dirty"},
		{"v0.1.1", at(7), "0.1.1"},
		{"v0.10.0", at(8), "0.10.0"},
	} {
		got := packageVersion(c.described, c.at)
		if got != c.want {
			t.Errorf("%s is %s, want %s", c.described, got, c.want)
		}
		if last != "" {
			if out, err := exec.Command("dpkg", "--compare-versions", last, "lt", got).CombinedOutput(); err != nil {
				t.Errorf("dpkg: %s is not before %s: %v %s", last, got, err, out)
			}
			order, err := exec.Command("rpm", "--eval", `%{lua:print(rpm.vercmp("`+last+`","`+got+`"))}`).Output()
			if err != nil || string(order) != "-1\n" {
				t.Errorf("rpm: %s is not before %s: %v %q (scripts/tools installs rpm)", last, got, err, order)
			}
		}
		last = got
	}
}
