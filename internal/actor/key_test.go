package actor

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"
)

// keyForm is the contract of key texts (completions.md §2).
var keyForm = map[Environment]*regexp.Regexp{
	Production: regexp.MustCompile(`^svc_live_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$`),
	Staging:    regexp.MustCompile(`^svc_test_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$`),
}

func TestNewKey(t *testing.T) {
	for environment, form := range keyForm {
		other := Production
		if environment == Production {
			other = Staging
		}
		seen := map[string]bool{}
		for range 1000 {
			text, prefix, digest := NewKey(environment)
			if !form.MatchString(text) {
				t.Fatalf("%s: a key of the wrong form: %d characters", environment, len(text))
			}
			if prefix != text[:13] {
				t.Errorf("prefix %q is not the first 13 characters", prefix)
			}
			if sum := sha256.Sum256([]byte(text)); digest != hex.EncodeToString(sum[:]) ||
				strings.Contains(digest, text) {
				t.Errorf("digest %q is not the SHA-256 of the key", digest)
			}
			if !environment.wellFormed(text) {
				t.Errorf("%s does not accept its own key", environment)
			}
			if other.wellFormed(text) {
				t.Errorf("%s accepts a key of %s", other, environment)
			}
			if seen[text] {
				t.Fatal("the same key twice")
			}
			seen[text] = true
		}
	}
}

// TestChecksum holds the checksum to values computed by another program
// (Python's zlib.crc32): keys issued once must be recognised for ever.
func TestChecksum(t *testing.T) {
	for _, c := range []struct {
		environment Environment
		text        string
	}{
		{Production, "svc_live_" + "00000000000000000000000000000000" + "3uclD9"},
		{Staging, "svc_test_" + "00000000000000000000000000000000" + "1riOPW"},
		{Production, "svc_live_" + "UVWXYZabcdefghijklmnopqrstuvwxyz" + "3PChZ8"},
		{Staging, "svc_test_" + "0123456789ABCDEFGHIJKLMNOPQRSTUV" + "2nuRgb"},
	} {
		if !c.environment.wellFormed(c.text) {
			t.Errorf("%q is refused: its checksum is %q", c.text, checksum(c.text[:len(c.text)-checksumChars]))
		}
	}
}

// TestWellFormed: no typing error of one character or of two swapped ones
// reaches the database.
func TestWellFormed(t *testing.T) {
	text, _, _ := NewKey(Production)
	for i := range text {
		for _, c := range []byte(base62 + "-_ \x00\xff") {
			if wrong := text[:i] + string([]byte{c}) + text[i+1:]; wrong != text && Production.wellFormed(wrong) {
				t.Fatalf("accepted with another character at %d", i)
			}
		}
		if i > 0 && text[i] != text[i-1] {
			swapped := []byte(text)
			swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
			if Production.wellFormed(string(swapped)) {
				t.Fatalf("accepted with the characters at %d swapped", i)
			}
		}
	}
	for name, wrong := range map[string]string{
		"empty": "", "prefix alone": "svc_live_", "shorter": text[:len(text)-1], "longer": text + "0",
		"space before": " " + text, "space after": text + " ", "line end": text + "\n",
		"upper case": strings.ToUpper(text),
		"twice":      text + text, "no prefix": text[len("svc_live_"):],
		"shorter with its checksum":  text[:30] + checksum(text[:30]),
		"longer with its checksum":   text[:41] + "0" + checksum(text[:41]+"0"),
		"other prefix, its checksum": "svc_prod_" + text[9:41] + checksum("svc_prod_"+text[9:41]),
	} {
		if Production.wellFormed(wrong) {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestKeyDistribution: every character is as likely as any other. Taking
// bytes modulo 62 without refusing the last eight would give eight characters
// a quarter more, which is a thousand times the limit here.
func TestKeyDistribution(t *testing.T) {
	const keys = 20_000
	var count [256]int
	for range keys {
		text, _, _ := NewKey(Production)
		for _, c := range []byte(text[len("svc_live_"):][:32]) {
			count[c]++
		}
	}
	expected := float64(keys*32) / float64(len(base62))
	chiSquare := 0.0
	for _, c := range []byte(base62) {
		d := float64(count[c]) - expected
		chiSquare += d * d / expected
	}
	// 61 degrees of freedom: above 140 once in some ten million runs.
	if chiSquare > 140 {
		t.Errorf("chi-square %.1f: some characters are likelier than others", chiSquare)
	}
}
