package page

import (
	"embed"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/language"
)

// messages holds a file for each language, named by its tag. A language is added
// by adding a file.
//
//go:embed messages/*.json
var messages embed.FS

// words are what the product says in a language. They are text, not HTML.
type words struct {
	tag string // for the attribute lang

	Direction       string               `json:"direction"` // for the attribute dir
	OpenHeading     string               `json:"openHeading"`
	Open            string               `json:"open"`
	Install         string               `json:"install"`
	Web             string               `json:"web"`
	Yes             string               `json:"yes"`
	No              string               `json:"no"`
	RecoveryHeading string               `json:"recoveryHeading"`
	RecoveryText    string               `json:"recoveryText"`
	CopyStep        string               `json:"copyStep"`
	CopyField       string               `json:"copyField"`
	Copy            string               `json:"copy"`
	Copied          string               `json:"copied"`
	InstallStep     string               `json:"installStep"`
	Store           string               `json:"store"`
	OpenStep        string               `json:"openStep"`
	OpenStepText    string               `json:"openStepText"`
	Home            string               `json:"home"`
	ContinueTo      string               `json:"continueTo"`
	Notices         map[Kind]noticeWords `json:"notices"`
}

type noticeWords struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// languages are those that have a file. English is the first: what fits none of
// them gets it.
var languages, wordsByTag = readMessages()

// byPrimary has the languages of which one file alone has the primary subtag: the
// only one that fits a visitor who likes that language best.
var byPrimary = func() map[string]language.Tag {
	only := map[string]language.Tag{}
	for _, tag := range languages {
		primary, _, _ := strings.Cut(tag.String(), "-")
		if _, shared := only[primary]; shared {
			tag = language.Und
		}
		only[primary] = tag
	}
	return only
}()

func readMessages() (tags []language.Tag, all map[language.Tag]*words) {
	files, err := messages.ReadDir("messages")
	if err != nil {
		panic(err)
	}
	tags, all = []language.Tag{language.English}, map[language.Tag]*words{}
	for _, file := range files {
		text, err := messages.ReadFile("messages/" + file.Name())
		if err != nil {
			panic(err)
		}
		name := strings.TrimSuffix(file.Name(), ".json")
		tag, w := language.MustParse(name), &words{tag: name}
		if err := json.Unmarshal(text, w, json.RejectUnknownMembers(true)); err != nil {
			panic(fmt.Errorf("messages/%s: %w", file.Name(), err))
		}
		if all[tag] = w; tag != language.English {
			tags = append(tags, tag)
		}
	}
	return tags, all
}

// wordsIn returns the words of a language that Language returned.
func wordsIn(tag language.Tag) *words {
	if w := wordsByTag[tag]; w != nil {
		return w
	}
	return wordsByTag[language.English]
}

var matcher = language.NewMatcher(languages)

// maxAccept is how much of Accept-Language is looked at: browsers send less.
const maxAccept = 128

// Language returns the language of the product's words for a visitor, by the value
// of Accept-Language: the best of those that have a file in messages, English when
// none fits.
func Language(accept string) language.Tag {
	// Most visitors like one of these best, and need no further look.
	if tag := byPrimary[primary(accept)]; tag != language.Und {
		return tag
	}
	if len(accept) > maxAccept {
		accept = accept[:strings.LastIndexByte(accept[:maxAccept+1], ',')+1]
	}
	wanted, _, err := language.ParseAcceptLanguage(strings.TrimSuffix(accept, ","))
	if err != nil {
		return language.English
	}
	_, best, _ := matcher.Match(wanted...)
	return languages[best]
}

// primary returns the primary subtag of the first language of Accept-Language, ""
// when a weight says that the visitor may like another one better.
func primary(accept string) string {
	first, _, _ := strings.Cut(accept, ",")
	if strings.Contains(first, ";") {
		return ""
	}
	subtag, _, _ := strings.Cut(first, "-")
	return subtag
}

// ContinueTo returns the words of a link that leads on to a destination. They are
// text, not HTML.
func ContinueTo(tag language.Tag, destination string) string {
	return strings.Replace(wordsIn(tag).ContinueTo, "{destination}", destination, 1)
}
