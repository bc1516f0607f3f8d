package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/waymarkhq/waymark/internal/text"
)

// place is a server, a credential for it, and what is meant where a command does not say.
type place struct {
	Server string `yaml:"server"`
	Token  string `yaml:"token"`
	App    string `yaml:"app,omitempty"`
	Domain string `yaml:"domain,omitempty"`
}

// contexts is the file of places by their names. It holds credentials, so only its owner may
// read it.
type contexts struct {
	Current  string           `yaml:"current"`
	Contexts map[string]place `yaml:"contexts"`
	file     string
}

// loadContexts reads the file, which need not be there.
func loadContexts() (*contexts, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("find the folder of contexts: %w", err)
	}
	c := &contexts{Contexts: map[string]place{}, file: filepath.Join(folder, "waymark", "contexts.yaml")}
	text, err := os.ReadFile(c.file)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the contexts: %w", err)
	}
	if err := yaml.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("read the contexts in %s: %s", c.file, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	if c.Contexts == nil { // as "contexts:" without any
		c.Contexts = map[string]place{}
	}
	return c, nil
}

// save writes the file anew, whole or not at all.
func (c *contexts) save() error {
	text, err := yaml.Marshal(c)
	if err != nil {
		return fmt.Errorf("write the contexts: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
		return fmt.Errorf("write the contexts: %w", err)
	}
	return replaceFile(c.file, text)
}

// find returns a context by its name, or the current one for "".
func (c *contexts) find(name string) (place, error) {
	if name == "" {
		name = c.Current
	}
	if name == "" {
		return place{}, errors.New("no server is known: run waymark login SERVER, or set WAYMARK_SERVER and WAYMARK_TOKEN")
	}
	p, ok := c.Contexts[name]
	if !ok {
		return p, usage(fmt.Sprintf("there is no context %q%s", name, meant(text.Nearest(name, c.names()))))
	}
	return p, nil
}

func (c *contexts) names() []string { return slices.Sorted(maps.Keys(c.Contexts)) }

// meant ends a refusal of a name for which another was probably meant.
func meant(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

// replaceFile writes a file that only its owner may read, whole or not at all.
func replaceFile(name string, content []byte) error {
	return writeFile(name, func(f io.Writer) error {
		_, err := f.Write(content)
		return err
	})
}

// writeFile is replaceFile for what a function writes.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", name, inner(err))
	}
	err = write(f)
	if err = errors.Join(err, inner(f.Sync()), inner(f.Close())); err == nil {
		err = inner(os.Rename(f.Name(), name))
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// inner takes the name of a file, which only the program knows, out of an error.
func inner(err error) error {
	var path *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

type contextCommand struct {
	List   contextListCommand   `cmd:"" default:"withargs" help:"List the contexts; * marks the current one."`
	Use    contextUseCommand    `cmd:"" help:"Choose the context that commands use."`
	Set    contextSetCommand    `cmd:"" help:"Change what a context means where a command does not say."`
	Remove contextRemoveCommand `cmd:"" help:"Forget a context with its credential."`
}

type contextListCommand struct {
	shape
}

// Run never shows credentials.
func (c *contextListCommand) Run() error {
	all, err := loadContexts()
	if err != nil {
		return err
	}
	rows := make([]json.RawMessage, 0, len(all.Contexts))
	for _, name := range all.names() {
		p := all.Contexts[name]
		row := shownContext{Name: name, Server: p.Server, App: p.App, Domain: p.Domain}
		if name == all.Current {
			row.Current = "*"
		}
		text, err := encode(row)
		if err != nil {
			return err
		}
		rows = append(rows, json.RawMessage(text))
	}
	columns := []string{"current", "name", "server", "app", "domain"}
	return c.print(columns, columns, rows...)
}

// shownContext is a context without its credential.
type shownContext struct {
	Current string `json:"current"`
	Name    string `json:"name"`
	Server  string `json:"server"`
	App     string `json:"app"`
	Domain  string `json:"domain"`
}

type contextUseCommand struct {
	Name string `arg:"" help:"Name of the context."`
}

func (c *contextUseCommand) Run() error {
	all, err := loadContexts()
	if err != nil {
		return err
	}
	if _, err := all.find(c.Name); err != nil {
		return err
	}
	all.Current = c.Name
	return all.save()
}

type contextSetCommand struct {
	Name   string  `arg:"" optional:"" help:"Name of the context; default: the current one."`
	App    *string `help:"App that commands concern." placeholder:"ID"`
	Domain *string `help:"Domain of new links." placeholder:"HOSTNAME"`
}

func (c *contextSetCommand) Run() error {
	all, err := loadContexts()
	if err != nil {
		return err
	}
	p, err := all.find(c.Name)
	if err != nil {
		return err
	}
	if c.App == nil && c.Domain == nil {
		return usage("nothing to set: give --app or --domain")
	}
	if c.App != nil {
		p.App = *c.App
	}
	if c.Domain != nil {
		p.Domain = *c.Domain
	}
	if c.Name == "" {
		c.Name = all.Current
	}
	all.Contexts[c.Name] = p
	return all.save()
}

type contextRemoveCommand struct {
	Name string `arg:"" help:"Name of the context."`
}

func (c *contextRemoveCommand) Run() error {
	all, err := loadContexts()
	if err != nil {
		return err
	}
	if _, err := all.find(c.Name); err != nil {
		return err
	}
	delete(all.Contexts, c.Name)
	if all.Current == c.Name {
		all.Current = ""
	}
	return all.save()
}
