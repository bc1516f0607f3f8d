package domain

import (
	"crypto/rand"

	"github.com/waymarkhq/waymark/internal/dnsrecord"
)

// newChallenge returns the record that proves the ownership of a hostname.
func newChallenge(hostname, value string, proved bool) Challenge {
	status := "pending"
	if proved {
		status = "verified"
	}
	return Challenge{Type: "TXT", Name: dnsrecord.ChallengeName + "." + hostname, Value: value, Status: status}
}

// newChallengeValue returns a value that no other claim has.
func newChallengeValue() string { return "waymark-verification=" + rand.Text() }
