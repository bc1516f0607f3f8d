package imports

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

// behaviors maps the values that older integrations send to their present names
// (api-v1.md, Versioning).
var behaviors = map[string]string{"automatico": "automatic", "inteligente": "intelligent"}
