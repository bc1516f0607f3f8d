package domain

import (
	"cmp"
	"context"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/opt"
	"github.com/waymarkhq/waymark/internal/route"
	"github.com/waymarkhq/waymark/internal/store"
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

// RecoveryLifetime returns how long recovery tokens of a domain of an app are good, by
// its configuration of now; for the hostname "", the longest of the app's domains. Where
// none was configured it is that of the default.
func RecoveryLifetime(ctx context.Context, q store.Q, appID, hostname string) (_ time.Duration, err error) {
	defer fault.Wrap(&err, "domain.RecoveryLifetime(%s, %q)", appID, hostname)
	var where store.Where
	where.And("app_id = ?", appID).And("recovery_config IS NOT NULL")
	if hostname != "" {
		where.And("hostname = ?", hostname)
	}
	texts, err := store.All(ctx, q, store.Value[string], "SELECT recovery_config FROM domain"+where.String(),
		where.Args()...)
	longest := int64(0)
	for _, text := range texts {
		var c RecoveryConfig
		if err := json.Unmarshal([]byte(text), &c); err != nil {
			return 0, err
		}
		longest = max(longest, c.TokenTTLSeconds)
	}
	return time.Duration(cmp.Or(longest, defaultRecovery.TokenTTLSeconds)) * time.Second, err
}

// route is what the redirector needs to know of it; nil for nothing.
func (c *RecoveryConfig) route() *route.Recovery {
	if !c.Enabled {
		return nil
	}
	return &route.Recovery{TokenTTLSeconds: c.TokenTTLSeconds, ByToken: c.Matching == "token"}
}
