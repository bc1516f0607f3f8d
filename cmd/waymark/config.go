package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/goccy/go-yaml"

	"github.com/waymarkhq/waymark/internal/cli"
	"github.com/waymarkhq/waymark/internal/text"
)

// settingsAlone keeps the flags of commands that use a server from being settings: neither the
// environment nor the file gives them, except where a flag names its variable.
func settingsAlone() kong.Option {
	var visit func(*kong.Node, bool)
	visit = func(node *kong.Node, client bool) {
		client = client || node.Group != nil && node.Group.Key == cli.Group
		for _, flag := range node.Flags {
			if client && len(flag.Envs) == 0 {
				flag.Envs = []string{"-"}
			}
		}
		for _, child := range node.Children {
			visit(child, client)
		}
	}
	return kong.PostBuild(func(k *kong.Kong) error {
		visit(k.Model.Node, false)
		return nil
	})
}

// settings returns the names of the flags of all commands that the environment
// and the file may give as well.
func settings(parser *kong.Kong) (names []string) {
	names = []string{cli.TokenSetting}
	for _, node := range append(parser.Model.Leaves(false), parser.Model.Node) {
		for _, flag := range node.Flags {
			if len(flag.Envs) > 0 {
				names = append(names, flag.Name)
			}
		}
	}
	return names
}

// configFile resolves flags from a YAML file. What is given as a flag or in
// the environment comes before it.
type configFile struct {
	path   string
	values map[string]any
}

// load finds --config (or WAYMARK_CONFIG) and reads the file. It must be known
// before the other flags are.
func (f *configFile) load(args []string) error {
	f.path = os.Getenv("WAYMARK_CONFIG")
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--config="); ok {
			f.path = value
		} else if arg == "--config" && i+1 < len(args) {
			f.path = args[i+1]
		}
	}
	if f.path == "" {
		return nil
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if err := yaml.Unmarshal(text, &f.values); err != nil {
		return fmt.Errorf("config %s: %s", f.path, strings.TrimSpace(yaml.FormatError(err, false, false)))
	}
	return nil
}

// checkNames refuses settings that no command has, and those that the environment alone gives: they
// would be silently without effect.
func (f *configFile) checkNames(known []string) error {
	known = slices.DeleteFunc(slices.Clone(known), func(name string) bool { return name == "config" || name == cli.TokenSetting })
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("config %s: there is no setting %q%s", f.path, name,
				didYouMean("", text.Nearest(name, known)))
		}
	}
	return nil
}

// Validate implements kong.Resolver.
func (f *configFile) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (f *configFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, ok := f.values[flag.Name]
	if !ok || len(flag.Envs) == 0 || slices.ContainsFunc(flag.Envs, func(name string) bool { _, set := os.LookupEnv(name); return set }) {
		return nil, nil
	}
	switch v := value.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, part := range v {
			parts[i] = fmt.Sprint(part)
		}
		return strings.Join(parts, ","), nil
	case bool:
		return v, nil
	case nil, map[string]any:
		return nil, fmt.Errorf("config %s: %s needs a value or a list", f.path, flag.Name)
	default:
		return fmt.Sprint(v), nil
	}
}
