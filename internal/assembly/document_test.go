package assembly_test

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/waymarkhq/waymark/api"
)

// walk calls visit for each schema of the document with its place.
func walk(v any, place string, visit func(place string, s map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		if _, typed := v["type"]; typed && !strings.HasSuffix(place, "/properties") &&
			!strings.Contains(place, "/example") {
			visit(place, v)
		}
		for name, inner := range v {
			walk(inner, place+"/"+name, visit)
		}
	case []any:
		for _, inner := range v {
			walk(inner, place, visit)
		}
	}
}

// Every string, array, number and open object says how large it can be, so
// that clients know what to reserve, and no request is unbounded.
func TestEverythingInTheContractIsBounded(t *testing.T) {
	schemas := 0
	walk(contractDocument(t), "", func(place string, s map[string]any) {
		if strings.HasPrefix(place, "/components/securitySchemes") {
			return
		}
		schemas++
		has := func(any ...string) bool {
			return slices.ContainsFunc(any, func(name string) bool { _, ok := s[name]; return ok })
		}
		types, _ := s["type"].([]any)
		if one, ok := s["type"].(string); ok {
			types = []any{one}
		}
		for _, kind := range types {
			switch kind {
			case "string":
				if !has("maxLength", "enum", "const") {
					t.Errorf("%s: a string without maxLength, enum or const", place)
				}
			case "array":
				if !has("maxItems") {
					t.Errorf("%s: an array without maxItems", place)
				}
			case "integer", "number":
				if !has("minimum") || !has("maximum") {
					t.Errorf("%s: a number without minimum and maximum", place)
				}
			case "object":
				if !has("properties", "maxProperties") && s["additionalProperties"] != false {
					t.Errorf("%s: an object of any members without maxProperties", place)
				}
			}
		}
	})
	if schemas < 1000 {
		t.Errorf("only %d schemas were found", schemas)
	}
}

// Every operation says in words what it is, belongs to a group that has a name
// for people, and describes what it answers.
func TestEveryOperationIsDescribed(t *testing.T) {
	document := contractDocument(t)
	groups := map[string]bool{}
	for _, tag := range document["tags"].([]any) {
		tag := tag.(map[string]any)
		groups[tag["name"].(string)] = tag["description"] != ""
	}
	each(document, func(method, path string, operation map[string]any) {
		name := method + " " + path
		if summary, _ := operation["summary"].(string); len(summary) < 8 {
			t.Errorf("%s: summary %q", name, summary)
		}
		if text, _ := operation["description"].(string); !strings.Contains(text,
			"`"+operation["x-service-permission"].(string)+"`") {
			t.Errorf("%s: the description %q does not tell its permission", name, text)
		}
		if tags, _ := operation["tags"].([]any); len(tags) != 1 || !groups[tags[0].(string)] {
			t.Errorf("%s: tags %v", name, operation["tags"])
		}
		for status, response := range operation["responses"].(map[string]any) {
			response := at(document, response)
			headers := at(document, response, "headers")
			wanted := []string{"X-Request-Id", "Cache-Control", "X-RateLimit-Limit", "X-RateLimit-Remaining",
				"X-RateLimit-Reset", "X-RateLimit-Policy"}
			switch status {
			case "201", "202":
				wanted = append(wanted, "Location")
			case "401":
				wanted = append(wanted, "WWW-Authenticate")
			case "409":
				wanted = append(wanted, "Location", "Retry-After")
			case "429", "503":
				wanted = append(wanted, "Retry-After")
			}
			for _, header := range wanted {
				if headers[header] == nil {
					t.Errorf("%s: %s has no header %s", name, status, header)
				}
			}
		}
	})
}

// each calls visit for each operation of the contract.
func each(document map[string]any, visit func(method, path string, operation map[string]any)) {
	paths := document["paths"].(map[string]any)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for method, operation := range paths[path].(map[string]any) {
			visit(strings.ToUpper(method), path, operation.(map[string]any))
		}
	}
}

// schemaNames are the names of all schemas. Programs that were generated from the
// contract carry them for ever: a name that is there is not changed, and a new one
// must be clear to a person who sees nothing but such a program.
const schemaNames = `
	AnalyticsBreakdown AnalyticsBreakdownItem AnalyticsBreakdownResponse AnalyticsBucket AnalyticsCampaign
	AnalyticsCampaignResponse AnalyticsCoverage AnalyticsEvent AnalyticsEvents AnalyticsEventsResponse
	AnalyticsFilters AnalyticsNative AnalyticsNativeBucket AnalyticsNativePlatform AnalyticsNativeResponse
	AnalyticsNativeTotals AnalyticsPeriod AnalyticsRecovery AnalyticsRecoveryBucket AnalyticsRecoveryResponse
	AnalyticsRecoveryTotals AnalyticsSummary AnalyticsSummaryResponse AnalyticsTimeseries
	AnalyticsTimeseriesResponse AnalyticsTopLink AnalyticsTopLinks AnalyticsTopLinksResponse
	AnalyticsTotals AndroidApp AndroidAppInput AndroidNativeConfig AndroidNativeConfigInput ApiKey ApiKeyCreate ApiKeyListResponse ApiKeyPatch
	ApiKeyResponse ApiKeyRotateRequest App AppCreate AppDefaults AppDefaultsInput AppDefaultsResponse
	AppLimits AppListResponse AppLogo AppLogoInput AppLogoResponse AppPatch AppResponse AppUsage Asset
	AssetListResponse AssetResponse AssetUpload AuditActor AuditEvent AuditEventListResponse AuditResource
	AutomationItemError AutomationItemResult AutomationJob AutomationJobResponse
	BatchChange BatchCreate BatchItem BatchItemListResponse
	CallLimits CallUsage Campaign CampaignCreate CampaignListResponse CampaignPatch CampaignResponse
	Capabilities CapabilitiesResponse
	DnsConnectionRecord DnsRecord DnsRecordCreate DnsRecordListResponse DnsRecordPatch
	DnsRecordResponse Domain DomainActionReasons DomainActions DomainApexProfile DomainApexRecord
	DomainCapabilities DomainCapabilitiesResponse DomainChallenge DomainCheck DomainConnection
	DomainCreate DomainDiagnostics DomainDiagnosticsResponse DomainLimits DomainListResponse
	DomainNativeConfig DomainNativeConfigInput DomainNativeConfigState DomainNativeConfigStateResponse
	DomainOptions DomainOptionsResponse DomainRecoveryConfig DomainRecoveryConfigInput
	DomainRecoveryConfigState DomainRecoveryConfigStateResponse DomainResponse DomainVerifyRequest
	DomainWebConfig DomainWebConfigInput DomainWebConfigState DomainWebConfigStateResponse
	EffectiveTemplates Error ErrorDependency ErrorDetail ErrorResource ErrorResponse ExportCreate
	Folder FolderCreate FolderListResponse FolderPatch FolderResponse
	ImportCommitRequest ImportCreate ImportItem ImportItemListResponse ImportValidateRequest
	ImportValidation ImportValidationResponse IosNativeConfig IosNativeConfigInput IssuedApiKey IssuedApiKeyResponse
	IssuedWebhook IssuedWebhookResponse
	Link LinkAvailability LinkAvailabilityResponse LinkCreate LinkDuplicateRequest LinkHistoryEntry
	LinkHistoryEntryListResponse LinkLifecycle LinkLifecycleInput LinkListResponse LinkPatch LinkPreview
	LinkPreviewRequest LinkPreviewResponse LinkResponse LinkResyncRequest LinkRoutingRules
	LinkRoutingRulesInput LinkRoutingRulesResponse LinkTags LinkTagsInput LinkTagsResponse
	LinkTemplateSelection LinkTemplateSelectionInput LinkTemplateSelectionResponse
	LinkValidateRequest LinkValidation LinkValidationResponse
	Operation OperationCancelRequest OperationError OperationResource OperationResponse OperationResult
	Pagination PermittedOperation Preferences PreferencesPatch PreferencesResponse Principal Profile
	ProfilePatch ProfileResponse PublicationDetail PublicationDetailResponse PublicationError
	PublicationState
	QrCode QrCodeCreate QrCodeListResponse QrCodePatch QrCodeResponse
	RateLimit RateLimitUsage RequestRecord RequestRecordListResponse ResponseMeta RotatedWebhookSecret
	RotatedWebhookSecretResponse RoutingRule RoutingRuleInput
	SharedLimits SharedUsage
	Tag TagCreate TagListResponse TagPatch TagResponse Template TemplateAppearance
	TemplateAppearanceInput TemplateAvailability TemplateAvailabilityResponse TemplateBindingRevisions
	TemplateCatalogItem TemplateCatalogItemListResponse TemplateCatalogSchema
	TemplateCatalogSchemaResponse TemplateChoice TemplateChoiceListResponse TemplateConfig
	TemplateConfigInput TemplateContent TemplateContentInput TemplateCreate TemplateDefaults
	TemplateDefaultsInput TemplateDefaultsResponse TemplateDetail TemplateDetailInput TemplateDraft
	TemplateDraftInput TemplateDraftResponse TemplateDuplicateRequest TemplateInUse TemplateLimits
	TemplateListResponse TemplatePalette TemplatePaletteInput TemplatePatch TemplatePreview
	TemplatePreviewRequest TemplatePreviewResponse TemplatePublication TemplatePublicationListResponse
	TemplatePublicationResponse TemplatePublicationRetryRequest TemplatePublicationTarget
	TemplatePublicationTargetInput TemplatePublishRequest TemplateRestoreRequest TemplateSelection
	TemplateSelectionInput TemplateSelections TemplateSelectionsInput TemplateValidateRequest
	TemplateValidation TemplateValidationResponse TemplateVariable TemplateVariableInput TemplateVersion
	TemplateVersionAvailability TemplateVersionCreate TemplateVersionListResponse
	TemplateVersionResponse TemplateWithDraft TemplateWithDraftResponse
	UsageReport UsageReportResponse UtmParameters UtmParametersInput
	Webhook WebhookAuthorizer WebhookCreate WebhookDelivery WebhookDeliveryError WebhookDeliveryListResponse
	WebhookDeliveryResponse WebhookDeliveryRetryRequest WebhookEvent WebhookEventResource
	WebhookListResponse WebhookPatch WebhookResponse WebhookSecretRotateRequest WebhookTestRequest
`

func TestSchemasHaveTheseNames(t *testing.T) {
	names, want := schemasOf(contractDocument(t)), strings.Fields(schemaNames)
	if !slices.IsSorted(want) {
		t.Error("schemaNames is not sorted")
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Contains(want, name) {
			t.Errorf("the contract has a schema %s, which schemaNames does not list", name)
		}
	}
	for _, name := range want {
		if names[name] == nil {
			t.Errorf("the contract has no schema %s any more: generated programs break", name)
		}
	}
}

func schemasOf(document map[string]any) map[string]any {
	return at(document, document, "components", "schemas")
}

// contents calls visit for each body of the contract with its place as a JSON
// Pointer.
func contents(document map[string]any, visit func(place, mediaType string, content map[string]any)) {
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	in := func(holder any, place string) {
		all := at(document, holder, "content")
		for _, mediaType := range slices.Sorted(maps.Keys(all)) {
			visit(place+"/content/"+escape.Replace(mediaType), mediaType, all[mediaType].(map[string]any))
		}
	}
	each(document, func(method, path string, operation map[string]any) {
		place := "/paths/" + escape.Replace(path) + "/" + strings.ToLower(method)
		in(operation["requestBody"], place+"/requestBody")
		for status, response := range operation["responses"].(map[string]any) {
			if _, shared := response.(map[string]any)["$ref"]; !shared {
				in(response, place+"/responses/"+status)
			}
		}
	})
	for name, webhook := range document["webhooks"].(map[string]any) {
		in(at(document, webhook, "post", "requestBody"), "/webhooks/"+name+"/post/requestBody")
	}
	for name, response := range at(document, document, "components", "responses") {
		in(response, "/components/responses/"+name)
	}
}

// Every body in JSON and every upload is a schema with a name. Requests admit no
// unknown members; of answers, and of the events that receivers get, no program
// may depend on the absence of further ones.
func TestRequestsAreClosedAndAnswersOpen(t *testing.T) {
	document := contractDocument(t)
	requests, answers := map[string]bool{}, map[string]bool{}
	contents(document, func(place, mediaType string, content map[string]any) {
		s := content["schema"].(map[string]any)
		if s["contentMediaType"] != nil || len(s) == 0 { // a file
			return
		}
		if s["$ref"] == nil {
			t.Errorf("%s: the schema has no name", place)
		}
		if strings.Contains(place, "/requestBody/") && strings.HasPrefix(place, "/paths/") {
			reach(document, s, requests)
		} else {
			reach(document, s, answers)
		}
	})
	if len(requests) < 40 || len(answers) < 100 {
		t.Errorf("only %d schemas of requests and %d of answers were found", len(requests), len(answers))
	}
	for name, s := range schemasOf(document) {
		if !requests[name] && !answers[name] {
			t.Errorf("no operation uses the schema %s", name)
		}
		if requests[name] && answers[name] {
			t.Errorf("%s is in requests and in answers, which need a schema each", name)
		}
		walk(s, name, func(place string, s map[string]any) {
			if s["properties"] == nil {
				return
			}
			if closed := s["additionalProperties"] == false; closed != requests[name] {
				t.Errorf("%s: further members are refused: %v", place, closed)
			}
		})
	}
}

// reach adds the names of all schemas that v refers to.
func reach(document map[string]any, v any, names map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if ref, ok := inner.(string); ok && key == "$ref" {
				name := strings.TrimPrefix(ref, "#/components/schemas/")
				if !names[name] {
					names[name] = true
					reach(document, schemasOf(document)[name], names)
				}
			} else if key != "examples" {
				reach(document, inner, names)
			}
		}
	case []any:
		for _, inner := range v {
			reach(document, inner, names)
		}
	}
}

// A reader finds what can be done before the details.
func TestPathsComeBeforeComponents(t *testing.T) {
	if paths, components := bytes.Index(api.Contract(), []byte("\npaths:")),
		bytes.Index(api.Contract(), []byte("\ncomponents:")); paths < 0 || components < paths {
		t.Errorf("paths begin at %d, components at %d", paths, components)
	}
}

// saysNothing finds the text that a sample has where there is no example; a member
// may have that name.
var saysNothing = regexp.MustCompile(`"text"[^:]`)

// Every request, answer, refusal and event has an example that its schema admits,
// in the eyes of a judge that is not ours.
func TestExamplesAreValid(t *testing.T) {
	document := contractDocument(t)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("contract.json", document); err != nil {
		t.Fatal(err)
	}
	examples := 0
	contents(document, func(place, mediaType string, content map[string]any) {
		s := content["schema"].(map[string]any)
		if s["contentMediaType"] != nil || len(s) == 0 { // a file
			return
		}
		rules, err := compiler.Compile("contract.json#" + place + "/schema")
		if err != nil {
			t.Fatalf("%s: %v", place, err)
		}
		example, ok := content["example"]
		if !ok {
			t.Errorf("%s: there is no example", place)
			return
		}
		examples++
		text, _ := json.Marshal(example)
		if err := rules.Validate(example); err != nil {
			t.Errorf("%s: %s: %v", place, text, err)
		}
		if saysNothing.Match(text) {
			t.Errorf("%s: the example has a text that says nothing: %s", place, text)
		}
	})
	if examples < 120 {
		t.Errorf("only %d examples were checked", examples)
	}
}
