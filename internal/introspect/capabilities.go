package introspect

import (
	"context"

	"github.com/waymarkhq/waymark/internal/op"
)

// Capabilities is which operations of this version the caller may use.
type Capabilities struct {
	Environment string       `json:"environment" enum:"production,staging"`
	APIVersion  string       `json:"apiVersion"`
	Principal   Principal    `json:"principal"`
	AppID       *string      `json:"appId"`
	Operations  []Capability `json:"operations"`
}

// Principal is the caller, minimally.
type Principal struct {
	ActorType string `json:"actorType" enum:"human,api_key"`
	UserID    string `json:"userId" format:"uuid"`
}

// Capability is one permitted operation.
type Capability struct {
	Operation  string `json:"operation"`
	Method     string `json:"method"`
	Path       string `json:"path"`
	Permission string `json:"permission"`
	HumanOnly  bool   `json:"humanOnly"`
}

// SchemaName implements schema.Named.
func (Capability) SchemaName() string { return "PermittedOperation" }

func (s *service) permitted(c *op.Call, appID *string) op.Item[Capabilities] {
	data := Capabilities{
		Environment: string(s.pipeline.Auth.Environment()), APIVersion: "1.0.0", AppID: appID,
		Principal: Principal{ActorType: string(c.Actor.Type), UserID: c.Actor.OwnerID}, Operations: []Capability{},
	}
	for _, o := range s.pipeline.Ops() {
		if c.Actor.May(o.Perm, o.Human) {
			data.Operations = append(data.Operations, Capability{Operation: o.ID, Method: o.Method, Path: o.Path,
				Permission: o.Perm, HumanOnly: o.Human})
		}
	}
	return op.Item[Capabilities]{Data: data}
}

func (s *service) capabilities(_ context.Context, c *op.Call, _ *struct{}) (op.Item[Capabilities], error) {
	return s.permitted(c, nil), nil
}

type appInput struct {
	AppID string `path:"appId" maxLength:"500"`
}

func (s *service) appCapabilities(_ context.Context, c *op.Call, in *appInput) (op.Item[Capabilities], error) {
	return s.permitted(c, &in.AppID), nil
}
