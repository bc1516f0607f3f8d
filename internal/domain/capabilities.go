package domain

import (
	"cmp"
	"context"

	"github.com/waymarkhq/waymark/internal/op"
)

// Capabilities tell what can be done with a domain now (getDomainsDomainIdCapabilities;
// api-v1.md, Domain).
type Capabilities struct {
	DomainID string  `json:"domainId" format:"uuid"`
	AppID    string  `json:"appId"`
	Revision string  `json:"revision" format:"uuid"`
	Mode     Mode    `json:"mode"`
	Actions  Actions `json:"actions"`
	Reasons  Reasons `json:"reasons" doc:"Why an action is not possible."`
}

// SchemaName implements schema.Named.
func (Capabilities) SchemaName() string { return "DomainCapabilities" }

// Actions are what can be done with a domain.
type Actions struct {
	Verify       bool `json:"verify"`
	Detach       bool `json:"detach"`
	DNS          bool `json:"dns" doc:"Whether its DNS records are changed through this API."`
	NativeConfig bool `json:"nativeConfig"`
	WebConfig    bool `json:"webConfig"`
	Recovery     bool `json:"recovery"`
	Templates    bool `json:"templates"`
}

// SchemaName implements schema.Named.
func (Actions) SchemaName() string { return "DomainActions" }

// Reasons explain the actions that are not possible.
type Reasons struct {
	Verify       string `json:"verify,omitzero" maxLength:"1000"`
	Detach       string `json:"detach,omitzero" maxLength:"1000"`
	DNS          string `json:"dns,omitzero" maxLength:"1000"`
	NativeConfig string `json:"nativeConfig,omitzero" maxLength:"1000"`
	WebConfig    string `json:"webConfig,omitzero" maxLength:"1000"`
	Recovery     string `json:"recovery,omitzero" maxLength:"1000"`
	Templates    string `json:"templates,omitzero" maxLength:"1000"`
}

// SchemaName implements schema.Named.
func (Reasons) SchemaName() string { return "DomainActionReasons" }

func (o Options) capabilities(ctx context.Context, c *op.Call, in *domainInput) (op.Item[Capabilities], error) {
	d, err := load(ctx, c.DB, in.DomainID)
	if err != nil {
		return op.Item[Capabilities]{}, err
	}
	out := Capabilities{DomainID: d.ID, AppID: d.AppID, Revision: d.Revision, Mode: d.Mode}
	gone := d.gone()
	can, why := &out.Actions, &out.Reasons
	for _, a := range []struct {
		permission string
		can        *bool
		why        *string
		impossible string
	}{
		{"domains:verify", &can.Verify, &why.Verify, gone},
		{"domains:delete", &can.Detach, &why.Detach, d.undetachable()},
		{"dns:update", &can.DNS, &why.DNS, cmp.Or(gone, o.noRecords(&d))},
		{"native_config:update", &can.NativeConfig, &why.NativeConfig, gone},
		{"web_config:update", &can.WebConfig, &why.WebConfig, gone},
		{"recovery_config:update", &can.Recovery, &why.Recovery, gone},
		{"template_bindings:update", &can.Templates, &why.Templates, gone},
	} {
		*a.why = a.impossible
		if *a.why == "" && !c.Actor.May(a.permission, false) {
			*a.why = "The credential has no permission " + a.permission + "."
		}
		*a.can = *a.why == ""
	}
	return op.Item[Capabilities]{Data: out, Ref: d.ref()}, nil
}

// noRecords tells why the DNS records of a domain are not changed here; "" when they
// are.
func (o Options) noRecords(d *Domain) string {
	switch {
	case d.Mode == Platform:
		return "The records of a platform domain belong to the installation."
	case d.Mode == External:
		return "The DNS of an external domain stays at its owner's provider."
	case o.Provider == nil:
		return "This installation manages no DNS zones any more (--dns-provider)."
	case d.verifiedAt == nil:
		return "The ownership is not proved yet. Add the record of the challenge and verify the domain."
	}
	return ""
}
