package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/waymarkhq/waymark/internal/text"
)

// envPrefix begins the environment variable of each setting.
const envPrefix = "WAYMARK_"

// checkEnvironment refuses variables that look like misspelt settings, and
// warns of the others that are none: Kubernetes, for one, sets
// WAYMARK_SERVICE_HOST beside a service called waymark.
func checkEnvironment(known []string) error {
	variables := make([]string, len(known))
	for i, name := range known {
		variables[i] = strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	}
	for _, variable := range os.Environ() {
		full, _, _ := strings.Cut(variable, "=")
		name, ours := strings.CutPrefix(full, envPrefix)
		if !ours {
			continue
		}
		switch meant := text.Nearest(name, variables); {
		case meant == name:
		case meant != "":
			return fmt.Errorf("there is no setting %s%s", full, didYouMean(envPrefix, meant))
		default:
			fmt.Fprintf(os.Stderr, "waymark: there is no setting %s; it is ignored\n", full)
		}
	}
	return nil
}

// didYouMean ends a refusal of a name for which another was probably meant.
func didYouMean(prefix, meant string) string {
	if meant == "" {
		return ""
	}
	return "; did you mean " + prefix + meant + "?"
}

// wordings replace what the command line's parser says of its own parts.
var wordings = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`expected \w+ value but got "EOL" \(<EOL>\)`), "a value is missing"},
	{regexp.MustCompile(`missing value, expecting "<arg>.*"`), "a value is missing"},
	{regexp.MustCompile(`expected \w+ value but got ".*" \((?:long|short) flag\); perhaps try (--[^=]+)="(.*)"\?`),
		"a value is missing before $2; if $2 is the value, write $1=$2"},
	{regexp.MustCompile(`expected duration but got (".*?"): time: [^(]*"`), "$1 is not a duration such as 30s or 5m"},
	{regexp.MustCompile(`expected a float but got (".*?") \(string\)`), "$1 is not a number"},
	{regexp.MustCompile(`bool value must be true, 1, yes, false, 0 or no but got (".*?")`),
		"$1 is neither true nor false"},
	{regexp.MustCompile(` \(from envar (\w+)=".*"\)`), " (set by $1)"},
	{regexp.MustCompile(`,"" but got `), " but got "},
	{regexp.MustCompile(`^missing flags: (.*)$`), "$1 is required"},
	{regexp.MustCompile(`^unexpected argument ([^,]*)`), `unexpected argument "$1"`},
}

// plain returns an error of the parser in the words of its reader.
func plain(err error) string {
	message := err.Error()
	for _, w := range wordings {
		message = w.from.ReplaceAllString(message, w.to)
	}
	return message
}
