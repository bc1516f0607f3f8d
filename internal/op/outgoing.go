package op

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/waymarkhq/waymark/internal/schema"
)

// Outgoing describes, for the contract, a request that the service sends to
// receivers that its clients run.
type Outgoing struct {
	Name    string // the event type
	Summary string
	// Payload is the type of the body.
	Payload reflect.Type
	// Headers maps the name of each header to its purpose.
	Headers map[string]string
}

// Describe adds outgoing requests to the contract.
func (p *Pipeline) Describe(o Outgoing) { p.outgoing = append(p.outgoing, o) }

// webhooks returns the outgoing requests as OpenAPI has them.
func (p *Pipeline) webhooks() members {
	all := members{}
	for _, o := range p.outgoing {
		parameters := []members{}
		for _, name := range slices.Sorted(maps.Keys(o.Headers)) {
			parameters = append(parameters, members{
				{"name", name}, {"in", "header"}, {"required", true}, {"description", o.Headers[name]},
				{"schema", &schema.Schema{Type: schema.String, MaxLength: schema.Of(200)}},
			})
		}
		body := p.answers.For(o.Payload)
		all = append(all, member{o.Name, members{{"post", members{
			{"operationId", "on_" + strings.ReplaceAll(o.Name, ".", "_")}, {"summary", o.Summary},
			{"description", "Sent to the destinations that selected this event, and signed."},
			{"tags", []string{"Webhooks"}},
			{"security", []members{}}, // the signature stands for it
			{"parameters", parameters},
			{"requestBody", members{{"required", true}, {"content",
				members{{"application/json", members{{"schema", body}, {"example", body.Sample(true)}}}}}}},
			{"responses", members{
				{"2XX", members{{"description", "Received. The body is not read."}}},
				{"4XX", members{{"description", "Refused: another attempt follows, five in all."}}},
			}},
		}}}})
	}
	return all
}
