package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
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
		meant := nearest(name, variables)
		switch {
		case !ours || meant == name:
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

// nearest returns the known name that takes the fewest letters to change into
// name, "" if that were more than two, or a third of the name.
func nearest(name string, known []string) (found string) {
	least := min(2, len(name)/3) + 1
	for _, k := range known {
		if d := distance(name, k); d < least {
			found, least = k, d
		}
	}
	return found
}

// distance counts the letters to insert, remove or replace between a and b; two
// neighbours that changed places count as one.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			replaced := last[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// wordings replace what the command line's parser says of its own parts.
var wordings = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`expected \w+ value but got "EOL" \(<EOL>\)`), "a value is missing"},
	{regexp.MustCompile(`missing value, expecting "<arg>.*"`), "a value is missing"},
	{regexp.MustCompile(`expected \w+ value but got ".*" \((?:long|short) flag\); perhaps try (--[^=]+)="(.*)"\?`), "a value is missing before $2; if $2 is the value, write $1=$2"},
	{regexp.MustCompile(`expected duration but got (".*?"): time: [^(]*"`), "$1 is not a duration such as 30s or 5m"},
	{regexp.MustCompile(`expected a float but got (".*?") \(string\)`), "$1 is not a number"},
	{regexp.MustCompile(`bool value must be true, 1, yes, false, 0 or no but got (".*?")`), "$1 is neither true nor false"},
	{regexp.MustCompile(` \(from envar (\w+)=".*"\)`), " (set by $1)"},
	{regexp.MustCompile(`^missing flags: (.*)$`), "$1 is required"},
	{regexp.MustCompile(`^unexpected argument ([^,]*)`), `unexpected argument "$1"`},
}

// plain returns an error of the parser in the words of its reader.
func plain(err error) string {
	text := err.Error()
	for _, w := range wordings {
		text = w.from.ReplaceAllString(text, w.to)
	}
	return text
}
