package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/waymarkhq/waymark/internal/cli"
)

var update = flag.Bool("update", false, "rewrite docs/settings.md")

const settingsPage = "../../docs/settings.md"

// settingsHead begins the page of all settings.
const settingsHead = `# Settings

Every setting of every command, as the program itself knows it: a test makes this page of the flags. ` + "`waymark serve --help`" + ` prints
the same in a terminal. [Operating](operating.md) explains what belongs together.

A setting can be given in three places. A flag (` + "`--data-dir DIR`" + `) wins over the environment (` + "`WAYMARK_DATA_DIR`" + `), and the
environment over the YAML file that ` + "`--config FILE`" + ` or ` + "`WAYMARK_CONFIG`" + ` names, where the name is that of the flag without its dashes.
A list stands in one value with commas between (` + "`--roles api,redirect`" + `), or in YAML as a list. Unknown names are refused, and the
refusal says which one was probably meant. Flags without a variable are no settings: they are given on the command line alone.

`

// The page of settings is the one that the flags make.
func TestSettingsPageIsGolden(t *testing.T) {
	parser, err := newParser(t.Context(), &configFile{})
	if err != nil {
		t.Fatal(err)
	}
	page := []byte(settingsOf(parser))
	if *update {
		if err := os.WriteFile(settingsPage, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(settingsPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(stored) != string(page) {
		t.Error("docs/settings.md is not what the flags say; run: go test ./cmd/waymark -run SettingsPage -update")
	}
}

// The variable of a setting is its name in capitals: what a misspelt one is compared with.
func TestVariables(t *testing.T) {
	parser, err := newParser(t.Context(), &configFile{})
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range parser.Model.Leaves(false) {
		for _, f := range command.Flags {
			want := envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
			if (len(f.Envs) > 0 || !usesServer(command)) && !slices.Equal(f.Envs, []string{want}) {
				t.Errorf("the variable of --%s is %q, want %s", f.Name, f.Envs, want)
			}
		}
	}
}

// usesServer tells whether a command is a client of a server.
func usesServer(command *kong.Node) bool {
	for ; command != nil; command = command.Parent {
		if command.Group != nil && command.Group.Key == cli.Group {
			return true
		}
	}
	return false
}

// clientHead begins the part of the commands that use a server.
const clientHead = `## Commands that use a server

[From a terminal](cli.md) explains them. These flags are those of many of them; the credential stands in ` + "`WAYMARK_TOKEN`" + `
or in a context.

`

// settingsOf returns the page of all settings.
func settingsOf(parser *kong.Kong) string {
	var b strings.Builder
	b.WriteString(settingsHead)
	commands := parser.Model.Leaves(true)
	serve := commands[slices.IndexFunc(commands, func(c *kong.Node) bool { return c.Path() == "serve" })]
	b.WriteString("## waymark serve\n\n" + serve.Help + "\n\n")
	known := map[string]string{} // the help of flags that are explained
	var groups []string
	rows := map[string]string{}
	for _, f := range serve.Flags {
		group := f.Group.Title
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
		rows[group] += rowOf(f)
		known[f.Name] = f.Help
	}
	for _, group := range groups {
		b.WriteString("### " + strings.TrimSuffix(group, ":") + "\n\n" + tableOf(rows[group]))
	}
	var clients []*kong.Node
	for _, command := range commands {
		switch {
		case usesServer(command):
			clients = append(clients, command)
		case command != serve && len(command.Flags) > 0:
			b.WriteString(sectionOf("##", command, known, "As for `waymark serve`: "))
		}
	}
	b.WriteString(clientHead)
	show := clients[slices.IndexFunc(clients, func(c *kong.Node) bool { return c.Path() == "link show" })]
	known, common := map[string]string{}, ""
	for _, f := range show.Flags { // it has no others
		known[f.Name] = f.Help
		common += rowOf(f)
	}
	b.WriteString(tableOf(common))
	for _, command := range clients {
		b.WriteString(sectionOf("###", command, known, "With "))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// sectionOf returns what is said of a command; of flags that are known it names them alone.
func sectionOf(level string, command *kong.Node, known map[string]string, before string) string {
	own, same := "", []string(nil)
	for _, p := range command.Positional {
		required := ""
		if p.Required {
			required = "must be given"
		}
		own += fmt.Sprintf("| `%s` | %s | %s |\n", strings.ToUpper(p.Name), required, escaped(p.Help))
	}
	for _, f := range command.Flags {
		if known[f.Name] == f.Help {
			same = append(same, "`--"+f.Name+"`")
		} else {
			own += rowOf(f)
		}
	}
	text := fmt.Sprintf("%s waymark %s\n\n%s\n\n", level, command.Path(), escaped(command.Help))
	if own != "" {
		text += tableOf(own)
	}
	if len(same) > 0 {
		text += before + strings.Join(same, ", ") + ".\n\n"
	}
	return text
}

func tableOf(rows string) string {
	return "| setting and variable | default | what it does |\n| --- | --- | --- |\n" + rows + "\n"
}

// explained is a help text that ends with the default.
var explained = regexp.MustCompile(`^(.*); default: (.*)\.$`)

func rowOf(f *kong.Flag) string {
	name, help, initial := "`--"+f.Name+"`", f.Help, ""
	if !f.IsBool() {
		name = "`--" + f.Name + " " + f.PlaceHolder + "`"
	}
	if m := explained.FindStringSubmatch(help); m != nil {
		help = m[1] + "."
		initial = escaped(m[2])
		if !strings.Contains(m[2], " ") {
			initial = "`" + m[2] + "`"
		}
	}
	switch {
	case f.Required && len(f.Xor) > 0:
		initial = "one of these must be given"
	case f.Required:
		initial = "must be given"
	}
	for _, variable := range f.Envs {
		name += " `" + variable + "`"
	}
	return fmt.Sprintf("| %s | %s | %s |\n", name, initial, escaped(help))
}

// escaped returns text in which Markdown sees no marks.
func escaped(text string) string {
	return strings.NewReplacer("<", `\<`, "|", `\|`, "*", `\*`).Replace(text)
}

// example is a setting of the file that packages install.
var example = regexp.MustCompile(`(?m)^#([a-z][a-z-]*:.*)$`)

// Every example in the file that packages install is a setting with a value that serve takes, and the
// file as it is changes nothing.
func TestPackagedSettings(t *testing.T) {
	text, err := os.ReadFile("../../deploy/packages/waymark.yaml")
	if err != nil {
		t.Fatal(err)
	}
	examples := example.FindAllStringSubmatch(string(text), -1)
	if len(examples) < 10 {
		t.Fatalf("the file has %d examples", len(examples))
	}
	check := func(text string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "waymark.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"serve", "--config", path}
		file := &configFile{}
		if err := file.load(args); err != nil {
			t.Fatal(err)
		}
		parser, err := newParser(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parse(parser, args)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if err := file.checkNames(settings(parser)); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
		c := parsed.Selected().Target.Addr().Interface().(*serveCommand)
		if err := c.check(); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	check(string(text))
	check(example.ReplaceAllString(string(text), "$1"))
	if lines := regexp.MustCompile(`(?m)^(?:#[^ \n]|[^#\n]).*$`).FindAllString(string(text), -1); len(lines) != len(examples) {
		t.Errorf("%d of these lines are settings: %q", len(examples), lines)
	}
}
