package domain

import (
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/route"
)

// RecoveryConfig tells whether an app that was just installed can find the link
// that led to its installation (completions.md §4).
type RecoveryConfig struct {
	Enabled         bool   `json:"enabled"`
	TokenTTLSeconds int64  `json:"tokenTtlSeconds" minimum:"300" maximum:"604800" doc:"How long after the visit the link is found."`
	Matching        string `json:"matching" enum:"token,none" doc:"What tells the link: a token that the visit gives to the app, or nothing."`
}

// SchemaName implements schema.Named.
func (RecoveryConfig) SchemaName() string { return "DomainRecoveryConfig" }

// defaultRecovery is the configuration of a domain for which none was set.
var defaultRecovery = RecoveryConfig{TokenTTLSeconds: 86400, Matching: "token"}

// SetRecoveryConfig is the body of setDomainsDomainIdRecoveryConfig.
type SetRecoveryConfig struct {
	Enabled         bool            `json:"enabled"`
	TokenTTLSeconds opt.Opt[int64]  `json:"tokenTtlSeconds,omitzero" minimum:"300" maximum:"604800" default:"86400"`
	Matching        opt.Opt[string] `json:"matching,omitzero" enum:"token,none" default:"token"`
}

// SchemaName implements schema.Named.
func (SetRecoveryConfig) SchemaName() string { return "DomainRecoveryConfigInput" }

// config returns the configuration that a body describes.
func (in *SetRecoveryConfig) config() RecoveryConfig {
	return RecoveryConfig{Enabled: in.Enabled, TokenTTLSeconds: in.TokenTTLSeconds.Or(defaultRecovery.TokenTTLSeconds),
		Matching: in.Matching.Or(defaultRecovery.Matching)}
}

// route is what the redirector needs to know of it; nil for nothing.
func (c *RecoveryConfig) route() *route.Recovery {
	if !c.Enabled {
		return nil
	}
	return &route.Recovery{TokenTTLSeconds: c.TokenTTLSeconds, ByToken: c.Matching == "token"}
}
