package binding_test

import (
	"testing"

	"github.com/waymarkhq/waymark/internal/binding"
	"github.com/waymarkhq/waymark/internal/opt"
)

var (
	inherit  = opt.NullOf(binding.Selection{Mode: binding.Inherit})
	official = opt.NullOf(binding.Selection{Mode: binding.Official})
	none     = opt.Null[binding.Selection]{Set: true}
)

func custom(id string, version int64) opt.Null[binding.Selection] {
	return opt.NullOf(binding.CustomOf(id, version))
}

// A binding gets a new revision when it changes, and when it is set for the first
// time, and at no other time.
func TestChoose(t *testing.T) {
	var b binding.Bindings
	for _, step := range []struct {
		name    string
		choice  opt.Null[binding.Selection]
		changed bool
	}{
		{"nothing taken back", none, false},
		{"inherit, said for the first time", inherit, true},
		{"inherit again", inherit, false},
		{"official", official, true},
		{"official again", official, false},
		{"a version", custom("a", 1), true},
		{"the same version", custom("a", 1), false},
		{"another version", custom("a", 2), true},
		{"another template", custom("b", 2), true},
		{"taken back", none, true},
		{"taken back again", none, false},
	} {
		before := b.Revisions.IOS
		if changed := b.Choose(binding.IOS, step.choice); changed != step.changed {
			t.Errorf("%s: changed = %v", step.name, changed)
		}
		if renewed := b.Revisions.IOS != before; renewed != step.changed {
			t.Errorf("%s: a new revision: %v", step.name, renewed)
		}
		if b.Android.Valid || b.Revisions.Android != nil || b.Recovery.Valid || b.Revisions.Recovery != nil {
			t.Errorf("%s: another binding changed: %+v", step.name, b)
		}
	}
	if b.Revisions.IOS == nil {
		t.Error("the revision of a binding that was taken back is lost")
	}
}

// The narrowest scope that says something else than inherit decides.
func TestResolve(t *testing.T) {
	of := func(choice opt.Null[binding.Selection]) *binding.Selections {
		return &binding.Selections{Android: choice, IOS: custom("ios", 9)}
	}
	for want, scopes := range map[string][]*binding.Selections{
		"official": {of(none), of(inherit), of(none)},
		"app@1":    {of(none), of(inherit), of(custom("app", 1))},
		"domain@2": {of(inherit), of(custom("domain", 2)), of(custom("app", 1))},
		"link@3":   {of(custom("link", 3)), of(custom("domain", 2)), of(custom("app", 1))},
	} {
		if got := binding.Resolve(binding.Android, scopes...).Ref(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := binding.Resolve(binding.Android, of(official), of(custom("app", 1))); got.Mode != binding.Official {
		t.Errorf("official does not win over a wider scope: %+v", got)
	}
	if got := binding.Resolve(binding.Android); got.Mode != binding.Official {
		t.Errorf("the last resort is %+v", got)
	}
}

// What a column holds comes back; links from before bindings had revisions have
// none.
func TestColumn(t *testing.T) {
	var b, back binding.Bindings
	b.Choose(binding.Android, custom("a", 1))
	b.Choose(binding.Recovery, inherit)
	text, err := b.Column()
	if err != nil {
		t.Fatal(err)
	}
	if err := back.SetColumn(&text); err != nil {
		t.Fatal(err)
	}
	if again, err := back.Column(); err != nil || again != text {
		t.Errorf("%s became %s (%v)", text, again, err)
	}
	old := `{"android":null,"ios":{"mode":"official","templateId":null,"version":null},"recovery":null}`
	if err := back.SetColumn(&old); err != nil || back.IOS.Value.Mode != binding.Official || back.Android.Valid ||
		back.Revisions != (binding.Revisions{}) {
		t.Errorf("%+v, %v", back, err)
	}
	if err := back.SetColumn(nil); err != nil || back != (binding.Bindings{}) {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestTemplateIDs(t *testing.T) {
	s := binding.Selections{Android: custom("a", 1), IOS: custom("a", 2), Recovery: official}
	if ids := s.TemplateIDs(); len(ids) != 1 || ids[0] != "a" {
		t.Errorf("%v", ids)
	}
	s.Recovery = custom("b", 1)
	if ids := s.TemplateIDs(); len(ids) != 2 || ids[0] != "a" || ids[1] != "b" {
		t.Errorf("%v", ids)
	}
}
