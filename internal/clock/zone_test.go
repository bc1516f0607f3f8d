package clock

import (
	"testing"
	_ "time/tzdata"
)

func TestZone(t *testing.T) {
	for name, want := range map[string]bool{
		"UTC": true, "Europe/Berlin": true, "America/Argentina/Buenos_Aires": true, "Asia/Calcutta": true,
		"": false, "Local": false, "localtime": false, "Factory": false, "posix/UTC": false, "right/UTC": false,
		"Europe": false, "Mars/Olympus": false, "../UTC": false, "/etc/localtime": false,
	} {
		zone, ok := Zone(name)
		if ok != want || ok && zone.String() != name {
			t.Errorf("Zone(%q) = %v, %v", name, zone, ok)
		}
	}
}
