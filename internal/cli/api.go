package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"github.com/waymarkhq/waymark/api"
	"github.com/waymarkhq/waymark/internal/text"
)

// apiCommand calls an operation. Its flags are made from the operation's parameters (apiflags.go), so
// its arguments are parsed in a second step.
type apiCommand struct {
	Args []string `arg:"" name:"operation" optional:"" help:"Operation, and its flags."`
}

// Run lists the operations, explains one, or calls one.
func (c *apiCommand) Run(ctx context.Context) error {
	if len(c.Args) == 0 || c.Args[0] == "--help" || c.Args[0] == "-h" {
		return listOperations()
	}
	o, err := findOperation(c.Args[0])
	if err != nil {
		return err
	}
	flags := newCallFlags(o)
	exited := false
	parser, err := kong.New(flags.all.Addr().Interface(), kong.Name("waymark api "+o.ID), kong.Description(explain(o)),
		kong.Exit(func(int) { exited = true }), kong.ConfigureHelp(kong.HelpOptions{NoExpandSubcommands: true}))
	if err != nil {
		return fmt.Errorf("make the flags of %s: %w", o.ID, err)
	}
	_, err = parser.Parse(c.Args[1:])
	if exited { // --help
		return nil
	}
	if err != nil {
		return usage(fmt.Sprintf("%v (see waymark api %s --help)", err, o.ID))
	}
	return flags.call(ctx)
}

// findOperation returns the operation with an id, in any case.
func findOperation(id string) (*api.Operation, error) {
	all := api.Operations()
	ids := make([]string, len(all))
	for i := range all {
		if strings.EqualFold(all[i].ID, id) {
			return &all[i], nil
		}
		ids[i] = all[i].ID
	}
	return nil, usage(fmt.Sprintf("there is no operation %q%s (waymark api lists them)", id, meant(text.Nearest(id, ids))))
}

// explain is what --help says of an operation.
func explain(o *api.Operation) string {
	s := o.Summary + ". " + o.Method + " /v1" + o.Path + "\n\n" + o.Description
	if o.Body == nil || o.Upload {
		return s
	}
	var b strings.Builder
	b.WriteString(s + "\n\nFields of the body, for --field:\n")
	describe(&b, "", o.Body)
	return b.String()
}

// describe writes a line for each field of a body.
func describe(b *strings.Builder, prefix string, s *api.Schema) {
	for _, m := range s.Members {
		kind := m.Type
		if m.Items != nil && m.Items.Type != "" {
			kind += " of " + m.Items.Type
		}
		if len(m.Enum) > 0 {
			kind = strings.Join(m.Enum, "|")
		}
		fmt.Fprintf(b, "\n  %s (%s)", prefix+m.Name, kind)
		switch {
		case m.Required && prefix == "" && fromContext[m.Name] != nil:
			b.WriteString(" from the context by default")
		case m.Required:
			b.WriteString(" required")
		}
		if m.Description != "" {
			b.WriteString(": " + m.Description)
		}
		b.WriteByte('\n')
		if m.Type == "object" {
			describe(b, prefix+m.Name+".", m.Schema)
		}
	}
}

// listOperations prints every operation under its heading.
func listOperations() error {
	fmt.Fprintln(stdout, "waymark api OPERATION [flags] calls an operation; waymark api OPERATION --help explains it.")
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	all := api.Operations()
	var groups []string
	for _, o := range all {
		if !slices.Contains(groups, o.Group) {
			groups = append(groups, o.Group)
		}
	}
	for _, group := range groups {
		fmt.Fprintf(w, "\n%s\n", group)
		for _, o := range all {
			if o.Group == group {
				fmt.Fprintf(w, "  %s\t%s\n", o.ID, o.Summary)
			}
		}
	}
	return w.Flush()
}
