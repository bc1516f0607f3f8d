package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// shellBlock is an example for a shell, whether test/docs runs it or not.
	shellBlock = regexp.MustCompile("(?ms)^ *```sh(?: no-run)?\n(.*?)^ *```$")
	// ownCommand is this program in a line of it, with its arguments.
	ownCommand = regexp.MustCompile(`(?m)^ *(?:sudo (?:-u \w+ )?|[A-Z_]+=\S+ |exec |docker (?:compose )?(?:exec \S+ |run (?: *-\S+ (?:[\d.:]+ )?)*))*(?:\./bin/|/usr/bin/)?waymark ([^|;&>#\n]*)`)
	// word is one of the arguments.
	word = regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`)
)

// Commands of the pages that no test can run, such as those that need root, are at least
// commands that the program has, with flags that it has.
func TestExamplesAreCommands(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
			for _, line := range ownCommand.FindAllStringSubmatch(strings.ReplaceAll(block[1], "\\\n", " "), -1) {
				found++
				args := word.FindAllString(line[1], -1)
				for i, arg := range args {
					args[i] = strings.Trim(arg, `'"`)
				}
				if len(args) == 1 && args[0] == "--version" { // its parsing ends the process
					continue
				}
				parser, err := newParser(t.Context(), &configFile{})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := parse(parser, args); err != nil {
					t.Errorf("%s: waymark %s: %v", filepath.Base(page), line[1], err)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d commands", found)
	}
}
