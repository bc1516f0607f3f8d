package op

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Outgoing describes in the contract requests that the service sends to
// receivers of its clients.
type Outgoing struct {
	Name    string // the event type
	Summary string
	// Payload is the type of the body.
	Payload reflect.Type
	// Headers are the names of the headers with what each is for.
	Headers map[string]string
}

// Describe adds outgoing requests to the contract.
func (s *Service) Describe(o Outgoing) { s.outgoing = append(s.outgoing, o) }

// webhooks returns the outgoing requests as OpenAPI has them.
func (s *Service) webhooks() map[string]*huma.PathItem {
	all := map[string]*huma.PathItem{}
	for _, o := range s.outgoing {
		post := &huma.Operation{
			OperationID: "on" + capital(strings.ReplaceAll(o.Name, ".", "_")), Summary: o.Summary, Tags: []string{"webhooks"},
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: s.registry.Schema(o.Payload, true, o.Payload.Name())}}},
			Responses: map[string]*huma.Response{
				"2XX": {Description: "Received. The body is not read."},
				"4XX": {Description: "Refused: another attempt follows, five in all."},
			},
			Security: []map[string][]string{}, // the signature stands for it
		}
		for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
			post.Parameters = append(post.Parameters, &huma.Param{Name: name, In: "header", Required: true, Description: o.Headers[name], Schema: &huma.Schema{Type: huma.TypeString}})
		}
		all[o.Name] = &huma.PathItem{Post: post}
	}
	return all
}
