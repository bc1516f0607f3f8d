package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/waymarkhq/waymark/api"
)

// scripts ask this program for the words that fit, so that they need no change when it gets new
// commands. Where it knows none, the shell completes the names of files.
var scripts = map[string]string{
	"bash": `_waymark() {
  local IFS=$'\n'
  COMPREPLY=($(waymark __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _waymark waymark
`,
	"zsh": `#compdef waymark
_waymark() {
  local -a found
  found=("${(@f)$(waymark __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "${found[1]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
if [[ "${funcstack[1]}" == _waymark ]]; then _waymark "$@"; else compdef _waymark waymark; fi
`,
	"fish": `function __waymark_complete
  set -l words (commandline --tokenize-raw --current-process --cut-at-cursor 2>/dev/null; or commandline -opc)
  waymark __complete $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c waymark -a '(__waymark_complete)'
`,
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help tells how a shell loads it.
func (completionCommand) Help() string {
	return `For bash: add  source <(waymark completion bash)  to ~/.bashrc. For zsh: add  source <(waymark completion zsh)  to ` +
		`~/.zshrc, after compinit. For fish: waymark completion fish >~/.config/fish/completions/waymark.fish`
}

func (c *completionCommand) Run() error {
	_, err := fmt.Fprint(stdout, scripts[c.Shell])
	return err
}

// completeCommand prints the words that a shell may put in place of the last one.
type completeCommand struct {
	Words []string `arg:"" optional:""`
}

func (c *completeCommand) Run(parser *kong.Kong) error {
	for _, word := range complete(parser.Model.Node, c.Words) {
		fmt.Fprintln(stdout, word)
	}
	return nil
}

// complete returns the words that may stand in place of the last of them.
func complete(node *kong.Node, words []string) (fitting []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	known, expecting := slices.Clone(node.Flags), (*kong.Flag)(nil)
	for i, word := range words[:len(words)-1] {
		switch {
		case expecting != nil:
			expecting = nil
		case strings.HasPrefix(word, "-"):
			expecting = takesValue(known, word)
		default:
			if child := childOf(node, word); child != nil {
				node = child
				known = append(known, node.Flags...)
				if isAPI(node) && i+1 < len(words)-1 {
					return completeCall(words[i+1:])
				}
			}
		}
	}
	var candidates []string
	name, _, assigned := strings.Cut(last, "=")
	switch {
	case expecting != nil:
		candidates = valuesOf(expecting)
	case assigned && strings.HasPrefix(last, "--"):
		for _, v := range valuesOf(findFlag(known, name)) {
			candidates = append(candidates, name+"="+v)
		}
	case strings.HasPrefix(last, "-"):
		candidates = flagNames(known)
	case isAPI(node):
		candidates = operationIDs()
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				candidates = append(candidates, child.Name)
			}
		}
		if len(candidates) == 0 {
			candidates = argumentsOf(node)
		}
	}
	return slices.DeleteFunc(candidates, func(c string) bool { return !strings.HasPrefix(c, last) })
}

func isAPI(node *kong.Node) bool { return node.Passthrough && node.Name == "api" }

// completeCall completes the flags of an operation.
func completeCall(words []string) []string {
	o, err := findOperation(words[0])
	if err != nil {
		return nil
	}
	parser, err := kong.New(newCallFlags(o).all.Addr().Interface())
	if err != nil {
		return nil
	}
	return complete(parser.Model.Node, words[1:])
}

func operationIDs() (ids []string) {
	for _, o := range api.Operations() {
		ids = append(ids, o.ID)
	}
	return ids
}

func childOf(node *kong.Node, name string) *kong.Node {
	for _, child := range node.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// findFlag returns the flag that a word of the command line names, nil for none.
func findFlag(known []*kong.Flag, word string) *kong.Flag {
	for _, f := range known {
		if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// takesValue returns the flag of a word when the next word is its value.
func takesValue(known []*kong.Flag, word string) *kong.Flag {
	if f := findFlag(known, word); f != nil && !f.IsBool() {
		return f
	}
	return nil
}

// valuesOf returns the values of a flag that are known.
func valuesOf(f *kong.Flag) []string {
	switch {
	case f == nil:
		return nil
	case f.Name == "context":
		return contextNames()
	case f.Enum != "":
		return filled(strings.Split(f.Enum, ",")...)
	}
	return nil
}

// argumentsOf returns what may stand where a command takes an argument.
func argumentsOf(node *kong.Node) []string {
	if node.Parent != nil && node.Parent.Name == "context" {
		return contextNames()
	}
	for _, argument := range node.Positional {
		if argument.Enum != "" {
			return filled(strings.Split(argument.Enum, ",")...)
		}
	}
	return nil
}

func contextNames() []string {
	all, err := loadContexts()
	if err != nil {
		return nil
	}
	return all.names()
}

func flagNames(known []*kong.Flag) (names []string) {
	for _, f := range known {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	}
	return names
}
