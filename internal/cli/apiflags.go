package cli

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/waymarkhq/waymark/api"
)

// callFlags are the flags of one operation: a struct with a field for each parameter, and one for
// each group of flags that its kind takes.
type callFlags struct {
	operation *api.Operation
	all       reflect.Value
	// inPath are the values of the parameters of the path, in their order (see request).
	inPath []string
}

type commonFlags struct {
	target
	shape
	Patience time.Duration `default:"10s" help:"How long the call is repeated while the server cannot be reached or asks to wait; default: ${default}." placeholder:"TIME"`
}

type bodyFlags struct {
	Field []string `short:"f" sep:"none" help:"Field of the body: name=text, a.b=text for a field of a field, name:=JSON for any value. Of a list, each one adds an item. Repeatable." placeholder:"NAME=VALUE"`
	JSON  string   `name:"json" help:"Body as JSON: a text, @FILE, or - for the standard input. Fields are added to it." placeholder:"JSON"`
}

type uploadFlags struct {
	File string `required:"" type:"existingfile" help:"File to upload." placeholder:"FILE"`
}

type mutationFlags struct {
	IdempotencyKey string `help:"Name of this intent, a UUID v4: the same call with the same key has one effect; default: a new one." placeholder:"UUID"`
}

type revisionFlags struct {
	IfMatch string `help:"Revision that was last read; default: the one that is read right before." placeholder:"REVISION"`
}

type pageFlags struct {
	All bool `help:"Read all pages."`
}

type fileFlags struct {
	Out string `help:"File to write; default: the standard output." placeholder:"FILE"`
}

// newCallFlags makes the flags of an operation.
func newCallFlags(o *api.Operation) *callFlags {
	var fields []reflect.StructField
	add := func(name string, of reflect.Type, tag string) {
		fields = append(fields, reflect.StructField{Name: name, Type: of, Tag: reflect.StructTag(tag)})
	}
	parameters := o.Parameters
	if o.Upload { // the app stands in the form
		parameters = append(parameters, api.Parameter{Name: "appId", Required: true})
	}
	for _, p := range parameters {
		add(fieldName(p.Name), reflect.TypeFor[*string](), parameterTag(p))
	}
	for _, group := range []struct {
		takes bool
		flags reflect.Type
	}{
		{o.Body != nil && !o.Upload, reflect.TypeFor[bodyFlags]()},
		{o.Upload, reflect.TypeFor[uploadFlags]()},
		{o.Mutates(), reflect.TypeFor[mutationFlags]()},
		{o.TakesRevision, reflect.TypeFor[revisionFlags]()},
		{o.Paged, reflect.TypeFor[pageFlags]()},
		{len(o.Files) > 0, reflect.TypeFor[fileFlags]()},
		{true, reflect.TypeFor[commonFlags]()},
	} {
		if group.takes {
			add("Group"+strconv.Itoa(len(fields)), group.flags, `embed:""`)
		}
	}
	return &callFlags{operation: o, all: reflect.New(reflect.StructOf(fields)).Elem()}
}

// fieldName is the name of the field of a parameter.
func fieldName(parameter string) string { return "Parameter_" + parameter }

// group returns the flags of a group, nil where the operation does not take them.
func group[T any](f *callFlags) *T {
	for i := range f.all.NumField() {
		if flags, ok := f.all.Field(i).Addr().Interface().(*T); ok {
			return flags
		}
	}
	return nil
}

// parameter returns what was given for a parameter.
func (f *callFlags) parameter(name string) (value string, given bool) {
	field := f.all.FieldByName(fieldName(name))
	if !field.IsValid() || field.IsNil() {
		return "", false
	}
	return *field.Interface().(*string), true
}

// fromContext are the parameters that the context may tell.
var fromContext = map[string]func(place) string{
	"appId": func(p place) string { return p.App },
}

// parameterTag is the flag of a parameter: --link-id for linkId.
func parameterTag(p api.Parameter) string {
	help := p.Description
	if p.Schema != nil {
		if len(p.Schema.Enum) > 0 {
			help += " One of " + strings.Join(p.Schema.Enum, ", ") + "."
		}
		if p.Schema.Default != nil {
			help += fmt.Sprintf(" Default: %v.", p.Schema.Default)
		}
	}
	tag := "name:" + strconv.Quote(flagName(p.Name)) + ` placeholder:"TEXT"`
	switch {
	case fromContext[p.Name] != nil:
		help += " Default: that of the context."
	case p.Required:
		tag += ` required:""`
	}
	return tag + " help:" + strconv.Quote(strings.TrimSpace(help))
}

// flagName is the name of a parameter as a flag.
func flagName(parameter string) string {
	var b strings.Builder
	for _, r := range parameter {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
