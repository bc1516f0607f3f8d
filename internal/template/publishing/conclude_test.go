package publishing

import "testing"

// The end of a publication, and what it says, follow from those of its targets.
func TestConclude(t *testing.T) {
	const some, none = "Some targets were not applied. The error of each says why.",
		"No target was applied. The error of each says why."
	for _, c := range []struct {
		targets []TargetState
		state   State
		says    string
	}{
		{[]TargetState{TargetApplied, TargetApplied}, Confirmed, ""},
		{[]TargetState{TargetConflict, TargetApplied}, Partial, some},
		{[]TargetState{TargetApplied, TargetDenied}, Partial, some},
		{[]TargetState{TargetSuperseded, TargetApplied}, Partial, some},
		{[]TargetState{TargetConflict, TargetDenied, TargetSuperseded}, Denied, none},
		{[]TargetState{TargetSuperseded, TargetConflict}, Conflict, none},
		{[]TargetState{TargetSuperseded, TargetSuperseded}, Superseded, "A newer publication took all targets over."},
	} {
		before := "of an earlier attempt"
		p := Publication{Error: &before}
		for _, state := range c.targets {
			p.Targets = append(p.Targets, Target{State: state})
		}
		p.conclude()
		says := ""
		if p.Error != nil {
			says = *p.Error
		}
		if p.State != c.state || says != c.says || (p.Error == nil) != (c.says == "") {
			t.Errorf("%v: %s, %q; want %s, %q", c.targets, p.State, says, c.state, c.says)
		}
	}
}
