package op

import (
	"reflect"

	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/schema"
)

// describing completes a registry with the vocabulary, the examples and the codes
// of refusals.
func describing(r *schema.Registry) *schema.Registry {
	r.Members, r.Examples = vocabulary, examples
	code, reason := &schema.Schema{Type: schema.String}, &schema.Schema{Type: schema.String}
	for _, row := range fault.Codes {
		code.Enum = append(code.Enum, string(row.Code))
	}
	for _, row := range fault.Reasons {
		reason.Enum = append(reason.Enum, string(row.Code))
	}
	r.Describe(reflect.TypeFor[fault.Code](), code)
	r.Describe(reflect.TypeFor[fault.Reason](), reason)
	return r
}

// vocabulary describes the members that many schemas have: one name means one
// thing in the whole contract. It completes fields and parameters whose own
// tags say nothing.
var vocabulary = func() map[string]schema.Schema {
	all := map[string]schema.Schema{}
	words := func(longest int, doc string, example any, names ...string) {
		for _, name := range names {
			all[name] = schema.Schema{Type: schema.String, MaxLength: &longest, Description: doc, Example: example}
		}
	}
	lists := func(most, longest int, names ...string) {
		for _, name := range names {
			all[name] = schema.Schema{Type: schema.Array, MaxItems: &most,
				Items: &schema.Schema{Type: schema.String, MaxLength: &longest}}
		}
	}
	const revision = exampleRevision
	for name, example := range map[string]string{
		"assetId": exampleAsset, "batchId": exampleJob, "campaignId": exampleCampaign, "deliveryId": exampleDelivery,
		"domainId": exampleDomain, "recordId": exampleDNS,
		"exportId": exampleJob, "folderId": exampleFolder, "importId": exampleJob, "keyId": exampleKey,
		"logoAssetId":   exampleAsset,
		"matchedRuleId": exampleRule, "operationId": exampleWork, "qrId": exampleQR, "tagId": exampleTag,
		"webhookId": exampleWebhook,
	} {
		words(100, "", example, name)
	}
	words(100, "", exampleRecord, "id", "templateId")
	words(100, "", "spring", "clientId")
	words(500, "Opaque; percent-encode it in paths.", exampleLink, "linkId")
	words(500, "", exampleApp, "appId", "selectedAppId", "defaultAppId")
	words(36, "A fresh UUID at each change.", revision, "revision")
	words(36, "The revision that the redirector holds; null until it confirmed one.", revision, "confirmedRevision")
	words(36, "", exampleRequest, "requestId", "correlationId")

	words(300, "", "Spring sale", "name")
	words(200, "", "Spring sale", "title")
	words(1000, "", "Everything for the garden", "description")
	words(100, "", "Ada Lovelace", "displayName")
	words(253, "", "go.example.com", "domain", "hostname", "defaultDomain", "zoneName")
	words(200, "", "spring", "slug")
	words(200, "", "sale", "prefix")
	words(8192, "", "https://go.example.com/sale/spring", "url", "fallback")
	words(4096, "", "https://shop.example.com/spring", "desktopUrl", "destinationUrl", "expiredUrl")
	words(4096, "", "https://play.google.com/store/apps/details?id=com.example.shop", "playStoreUrl")
	words(4096, "", "https://apps.apple.com/app/id1234567890", "appStoreUrl")
	words(4096, "", "https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png", "imageUrl", "photoUrl")
	words(4096, "", nil, "nativeUri", "downloadUrl", "value")
	words(1000, "", "products/42", "appPath")
	words(64, "", "shop", "scheme")
	words(255, "", "com.example.shop", "androidPackage", "packageName")
	words(155, "", "com.example.shop", "iosBundleId")
	words(10, "", "A1B2C3D4E5", "iosTeamId")

	words(255, "", "newsletter", "source", "medium", "campaign", "term", "content")
	words(2, "ISO 3166-1 alpha-2; ZZ where it is not known.", "DE", "country")
	words(20, "", nil, "device", "group", "platform", "eventType", "method", "origin", "apiVersion", "reason")
	words(100, "An IANA time zone.", "Europe/Berlin", "timezone")
	words(100, "The name of an operation of this contract.", "createLinks", "operation")
	words(100, "", nil, "type", "permission", "errorCode")
	words(500, "", nil, "path", "route")
	words(1000, "For a person.", nil, "message")
	words(200, "Shown this once; keep it.", nil, "secret")
	words(11, "", "#1a2b3c", "foreground", "background")

	lists(100, 500, "appIds")
	lists(200, 100, "permissions")
	lists(50, 100, "tagIds", "fields")
	lists(50, 500, "limitations", "paths", "nameservers")
	lists(50, 4096, "expected", "observed")
	lists(10, 253, "platformZones")
	lists(20, 45, "a", "aaaa")
	lists(10, 100, "sha256CertFingerprints", "events")
	for name, most := range map[string]int{
		"apps": 10, "checks": 10, "connectionRecords": 20, "dependencies": 20, "details": 50, "issues": 50, "operations": 200,
		"rules": 50, "buckets": 800, "modes": 3, "apexProfiles": 10, "records": 40,
	} {
		all[name] = schema.Schema{Type: schema.Array, MaxItems: &most}
	}
	return all
}()

// tagText names a group of operations for the reference. The most important
// stand first.
type tagText struct{ slug, Name, Doc string }

var tagTexts = []tagText{
	{"links", "Links", "Web and deep links: content, lifecycle, rules, tags, history, previews and their way to the " +
		"redirector."},
	{"domains", "Domains", "Custom and platform hostnames under which links resolve, and their configuration."},
	{"domain-options", "Domains", ""},
	{"qr-codes", "QR codes", "Saved QR codes of links, as PNG or SVG."},
	{"analytics", "Analytics", "Counts of visits by time, country, device, source and more, without storing who " +
		"visited."},
	{"apps", "Apps", "Apps own links, domains, images and tags; an API key reaches the apps that it names."},
	{"campaigns", "Campaigns", "Links with common UTM parameters and a period."},
	{"tags", "Tags", "Labels of links."},
	{"folders", "Folders", "Where links are kept; a link is in one at most."},
	{"templates", "Templates", "Pages that visitors see on phones: drafts, versions and their publication."},
	{"template-catalog", "Templates", ""},
	{"template-choices", "Templates", ""},
	{"template-publications", "Templates", ""},
	{"assets", "Images", "PNG and JPEG images for links, logos and pages."},
	{"link-batches", "Batches", "Create, update or delete up to fifty links in one request, each in its own " +
		"transaction."},
	{"imports", "Imports", "Links from a CSV or JSON file: uploaded, validated, committed."},
	{"exports", "Exports", "Links, events and summaries as CSV or JSON files."},
	{"webhooks", "Webhooks", "Signed requests to receivers when something changes."},
	{"webhook-deliveries", "Webhooks", ""},
	{"api-keys", "API keys", "Credentials for programs, limited to apps and permissions."},
	{"operations", "Operations", "Work that outlives its request: its state, and how to cancel it."},
	{"capabilities", "Usage and audit", "What the caller may do, who changed what, and how requests ended."},
	{"audit-events", "Usage and audit", ""},
	{"requests", "Usage and audit", ""},
	{"me", "Profile", "The current user and their preferences."},
}
