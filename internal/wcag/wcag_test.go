package wcag_test

import (
	"math"
	"testing"

	"github.com/waymarkhq/waymark/internal/wcag"
)

func TestContrast(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want float64
	}{
		{"#000000", "#ffffff", 21},
		{"#ffffff", "#000000", 21},
		{"#777777", "#ffffff", 4.48},
		{"#949494", "#FFFFFF", 3.03},
		{"#959595", "#ffffff", 2.99},
		{"#ff0000", "#ffffff", 4.00},
		{"#123456", "#123456", 1},
	} {
		a, _ := wcag.ParseHex(c.a)
		b, _ := wcag.ParseHex(c.b)
		if got := wcag.Contrast(a, b); math.Abs(got-c.want) > 0.006 {
			t.Errorf("Contrast(%s, %s) = %.3f, want %.2f", c.a, c.b, got, c.want)
		}
	}
}

func TestParseHex(t *testing.T) {
	for _, s := range []string{"", "#", "#fff", "ffffff", "#fffffff", "#ggffff", "red", "#12 456"} {
		if _, ok := wcag.ParseHex(s); ok {
			t.Errorf("ParseHex(%q) is ok", s)
		}
	}
	if c, ok := wcag.ParseHex("#0aB1c2"); !ok || c.R != 0x0a || c.G != 0xb1 || c.B != 0xc2 || c.A != 0xff {
		t.Errorf("ParseHex(#0aB1c2) = %v, %t", c, ok)
	}
}
