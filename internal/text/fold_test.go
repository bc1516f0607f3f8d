package text

import "testing"

func TestFold(t *testing.T) {
	if Fold("Straße", "ÄRGER") != Fold("STRASSE", "a\u0308rger") {
		t.Errorf("%q, %q", Fold("Straße", "ÄRGER"), Fold("STRASSE", "a\u0308rger"))
	}
	if Fold("arger") == Fold("ärger") {
		t.Error("accents do not matter")
	}
}
