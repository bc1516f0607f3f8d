package imports

import "strings"

// kind is how a CSV cell is read: everything in one is text.
type kind int

const (
	text kind = iota
	boolean
	integer
	object
)

// fields are what a column may give. url and url.path are no fields of a link:
// they give its domain, prefix and slug as other products write them.
var fields = map[string]kind{
	"clientId": text, "url": text, "url.path": text,
	"domain": text, "prefix": text, "slug": text,
	"folderId": text, "campaignId": text, "title": text, "description": text, "imageUrl": text,
	"desktopUrl": text, "playStoreUrl": text, "appStoreUrl": text, "appPath": text,
	"webOnly": boolean, "behavior": text, "group": text,
	"parameters": object, "templateData": object, "templateSelection": object,
	"utm": object, "utm.source": text, "utm.medium": text, "utm.campaign": text, "utm.term": text, "utm.content": text,
	"lifecycle": object, "lifecycle.archived": boolean, "lifecycle.startsAt": text, "lifecycle.expiresAt": text,
	"lifecycle.maxClicks": integer, "lifecycle.expiredUrl": text,
}

// behaviors are the values of older integrations that have another name now
// (api-v1.md, Versioning).
var behaviors = map[string]string{"automatico": "automatic", "inteligente": "intelligent"}

// columns tells which field each column of a content gives; those without one
// are ignored. problems are at the place that names the column. A mapping names
// only columns that are there when each row has all of them.
func columns(names []string, mapping map[string]string, complete bool) (fieldOf map[string]string, p problems) {
	fieldOf = map[string]string{}
	taken := map[string]string{}
	use := func(path, name, field string) {
		_, known := fields[field]
		switch {
		case field == "appId":
			p.add(path, "not_allowed", "the app is the import's own, no column gives it")
			return
		case !known && path == "/content":
			p.add(path, "unknown_field", "the column %s is not named as a field; a mapping can name its field", quote(name))
			return
		case !known:
			p.add(path, "unknown_field", "%s is not a field that can be imported", quote(field))
			return
		}
		whole, _, _ := strings.Cut(field, ".")
		for _, other := range sorted(taken) {
			if field == other || whole == other || strings.HasPrefix(other, field+".") {
				p.add(path, "duplicate", "the columns %s and %s both give %s", quote(taken[other]), quote(name), whole)
				return
			}
		}
		taken[field], fieldOf[name] = name, field
	}
	if len(mapping) == 0 {
		for _, name := range names {
			use("/content", name, name)
		}
		return fieldOf, p
	}
	has := map[string]bool{}
	for _, name := range names {
		has[name] = true
	}
	for _, name := range sorted(mapping) {
		path := "/mapping/" + pointer.Replace(name)
		if complete && !has[name] {
			if len(p) == 0 { // once is enough
				p.add(path, "unknown_column", "there is no such column; the columns are %s", quote(strings.Join(names, ", ")))
			} else {
				p.add(path, "unknown_column", "there is no such column")
			}
			continue
		}
		use(path, name, mapping[name])
	}
	return fieldOf, p
}

// pointer escapes a member name for a JSON Pointer.
var pointer = strings.NewReplacer("~", "~0", "/", "~1")
