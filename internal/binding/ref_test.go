package binding_test

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/binding"
)

func TestSelectionOf(t *testing.T) {
	for _, want := range []binding.Selection{{Mode: binding.Inherit}, {Mode: binding.Official}, binding.CustomOf("a",
		12)} {
		if got := binding.SelectionOf(want.Ref()); got.Ref() != want.Ref() || got.Mode != want.Mode {
			t.Errorf("%q became %+v", want.Ref(), got)
		}
	}
	for _, ref := range []string{"a@x", "official@", "a"} {
		if got := binding.SelectionOf(ref); got.Mode != binding.Official {
			t.Errorf("%q is %+v", ref, got)
		}
	}
}
