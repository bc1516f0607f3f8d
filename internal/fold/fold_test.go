package fold

import "testing"

func TestText(t *testing.T) {
	if Text("Straße", "ÄRGER") != Text("STRASSE", "a\u0308rger") {
		t.Errorf("%q, %q", Text("Straße", "ÄRGER"), Text("STRASSE", "a\u0308rger"))
	}
	if Text("arger") == Text("ärger") {
		t.Error("accents do not matter")
	}
}
