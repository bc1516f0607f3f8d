package actor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Rule lets people of an OpenID Connect issuer enter, by what the issuer says of them.
type Rule struct {
	kind  ruleKind
	value string
}

type ruleKind string

// The kinds of rules. Addresses count only when the issuer has verified them.
const (
	byDomain ruleKind = "email_domain"
	byGroup  ruleKind = "group"
	byEmail  ruleKind = "email"
)

// ParseRule reads a rule such as email_domain=example.com, group=marketing or
// email=ann@example.com. Addresses and domains are compared without their case, groups with
// it.
func ParseRule(text string) (r Rule, err error) {
	kind, value, _ := strings.Cut(text, "=")
	r = Rule{ruleKind(kind), strings.TrimSpace(value)}
	switch {
	case r.value == "":
		err = errors.New("a rule is email_domain=example.com, group=marketing or email=ann@example.com")
	case r.kind == byDomain:
		r.value = strings.ToLower(r.value)
		if strings.Contains(r.value, "@") {
			err = errors.New("a domain is what follows the @ of an address, such as example.com")
		}
	case r.kind == byEmail:
		r.value, err = address(r.value)
	case r.kind != byGroup:
		err = errors.New("there are the rules email_domain, group and email")
	}
	if err != nil {
		return Rule{}, fmt.Errorf("%q: %w", text, err)
	}
	return r, nil
}

// admits reports whether the rule lets the subject of a token enter.
func (r Rule) admits(s Session, groups []string) bool {
	if r.kind == byGroup {
		return slices.Contains(groups, r.value)
	}
	if !s.EmailVerified || s.Email == "" {
		return false
	}
	if r.kind == byDomain {
		return s.Email[strings.LastIndexByte(s.Email, '@')+1:] == r.value && strings.Contains(s.Email, "@")
	}
	return s.Email == r.value
}

// texts returns a claim that is a list of texts, or one text.
func texts(claim any) (all []string) {
	switch v := claim.(type) {
	case string:
		all = []string{v}
	case []any:
		for _, one := range v {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
	}
	return all
}
