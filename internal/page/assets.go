package page

import (
	"embed"
	"regexp"
	"strings"

	"github.com/waymarkhq/waymark/internal/binding"
)

//go:embed assets
var assets embed.FS

// styles are what all pages of a base template have in common.
var styles = map[binding.Base]string{
	binding.Android:  asset("base.css") + asset("android.css"),
	binding.IOS:      asset("base.css") + asset("ios.css"),
	binding.Recovery: asset("base.css") + asset("ios.css") + asset("recovery.css"),
}

// The scripts of the pages that open an app and of those with something to copy.
var openScript, copyScript = asset("open.js"), asset("copy.js")

var (
	comment     = regexp.MustCompile(`(?m)^//.*\n`)
	breaks      = regexp.MustCompile(`\s*\n\s*`)
	punctuation = regexp.MustCompile(` ?([{};,]) ?`)
)

// asset returns a style or a script without what only its readers need.
func asset(name string) string {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err)
	}
	s := comment.ReplaceAllString(string(text), "")
	s = strings.TrimSpace(breaks.ReplaceAllString(s, "\n"))
	if strings.HasSuffix(name, ".js") {
		return s
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\n", ""), ": ", ":")
	return punctuation.ReplaceAllString(s, "$1")
}
