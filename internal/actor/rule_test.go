package actor

import (
	"slices"
	"testing"
)

func TestRules(t *testing.T) {
	ann := Session{Subject: "1", Email: "ann@example.com", EmailVerified: true}
	unverified := ann
	unverified.EmailVerified = false
	for _, c := range []struct {
		rule     string
		who      Session
		groups   []string
		admitted bool
	}{
		{"email_domain=example.com", ann, nil, true},
		{"email_domain=Example.COM", ann, nil, true},
		{"email_domain=example.com", unverified, nil, false},
		{"email_domain=ample.com", ann, nil, false},
		{"email_domain=com", ann, nil, false},
		{"email_domain=example.com", Session{Email: "ann@mail.example.com", EmailVerified: true}, nil, false},
		{"email_domain=example.com", Session{Email: "ann@example.com@evil.example", EmailVerified: true}, nil, false},
		{"email_domain=example.com", Session{Email: "example.com", EmailVerified: true}, nil, false},
		{"email_domain=example.com", Session{EmailVerified: true}, nil, false},
		{"email=Ann@example.com", ann, nil, true},
		{"email=ann@example.com", unverified, nil, false},
		{"email=bob@example.com", ann, nil, false},
		{"group=marketing", unverified, []string{"sales", "marketing"}, true},
		{"group=marketing", ann, []string{"Marketing", "marketing2"}, false},
		{"group=marketing", ann, nil, false},
		{"group=a=b", ann, []string{"a=b"}, true},
	} {
		r, err := ParseRule(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.admits(c.who, c.groups); got != c.admitted {
			t.Errorf("%s admits %+v %q: %t", c.rule, c.who, c.groups, got)
		}
	}
	for _, wrong := range []string{"", "email", "email=", "email=x", "email_domain=@example.com", "email_domain= ", "domain=x", "group="} {
		if r, err := ParseRule(wrong); err == nil {
			t.Errorf("%q is the rule %+v", wrong, r)
		}
	}
	for _, c := range []struct {
		claim any
		want  []string
	}{{nil, nil}, {"a", []string{"a"}}, {[]any{"a", 1.0, "b"}, []string{"a", "b"}}, {map[string]any{"a": 1.0}, nil}} {
		if got := texts(c.claim); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q", c.claim, got)
		}
	}
}
