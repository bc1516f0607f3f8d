package op

import (
	"maps"

	"github.com/waymarkhq/waymark/internal/fault"
)

// The examples of the contract tell one story: the app Garden shop announces its
// spring sale under a short link on go.example.com.
const (
	exampleApp      = "app_01k6fq4w8m3x7c9v2n5b1t0rzy"
	exampleLink     = "go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"
	exampleUser     = "0198c9a0-1c57-7a20-8e31-5d0f4a7b9c12"
	exampleKey      = "0198c9a0-4d21-7b36-9f42-6e1a5b8c0d23"
	exampleDomain   = "0198c9a1-0b8f-7c4d-8053-7f2b6c9d1e34"
	exampleFolder   = "0198c9a1-5e13-7d59-9164-803c7dae2f45"
	exampleCampaign = "0198c9a1-9a47-7e62-8275-914d8ebf3a56"
	exampleTag      = "0198c9a1-d26b-7f70-9386-a25e9fc04b67"
	exampleAsset    = "0198c9a2-0a9c-7081-8497-b36fa0d15c78"
	exampleRule     = "0198c9a2-8b50-7192-95a8-c470b1e26d89"
	exampleQR       = "0198c9a2-c384-72a3-86b9-d581c2f37e9a"
	exampleWebhook  = "0198c9a3-1f08-73b4-97ca-e692d3048fab"
	exampleDelivery = "0198c9a3-573c-74c5-88db-f7a3e41590bc"
	exampleEvent    = "0198c9a3-8f60-75d6-99ec-08b4f526a1cd"
	exampleJob      = "0198c9a3-c794-76e7-8afd-19c50637b2de"
	exampleWork     = "0198c9a4-0fc8-77f8-9b0e-2ad61748c3ef"
	exampleRecord   = "0198c9a4-47fc-7809-8c1f-3be72859d4f0"
	exampleDNS      = "0198c9a4-8b3d-791a-9d20-4cf8396ae501"
	exampleTemplate = "0198c9a4-c1e5-7a2b-8e31-5d0a4a7bf612"
	exampleRevision = "f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90"
	exampleCert     = "14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:B2:3F:CF:44:E5"
	exampleRequest  = "req_3f2a9c0d5b7e4816a2c4e6f80b1d3f57"

	morning  = "2026-11-20T09:00:00.000Z"
	noon     = "2026-11-20T12:00:00.000Z"
	nextDay  = "2026-11-21T12:00:00.000Z"
	in30Days = "2026-12-20T12:00:00.000Z"
	in90Days = "2027-02-18T12:00:00.000Z"
)

// examplePage is a template for Android, which examples choose.
const examplePage = "0198c9a4-c1e5-7a2b-8e31-5d0a4a7bf612"

var (
	exampleChoice  = map[string]any{"mode": "custom", "templateId": examplePage, "version": 1.0}
	officialChoice = map[string]any{"mode": "official", "templateId": nil, "version": nil}
	exampleTargets = []any{map[string]any{"scope": "link", "linkId": exampleLink, "expectedRevision": exampleRevision}}
	exampleChoices = map[string]any{"android": exampleChoice, "ios": nil, "recovery": nil}
)

// examples are the values that single members show, by schema and member, where
// the example of the vocabulary would be wrong; nil shows null.
var examples = map[string]any{
	"AnalyticsCoverage.source": "retained_events", "AnalyticsCoverage.grouping": "none",
	"AnalyticsCoverage.deletedLinks":         "included",
	"AnalyticsCoverage.historicalAggregates": "not_merged", "AnalyticsCoverage.uniqueVisitors": "estimate",
	"AnalyticsCoverage.nativeTrust": "client_reported",
	"AnalyticsCoverage.limitations": []any{"Unique visitors are exact within a day and an estimate over days."},
	"AnalyticsFilters.campaignId":   nil, "AnalyticsFilters.folderId": nil, "AnalyticsFilters.tagId": nil,
	"AnalyticsFilters.group":  "all",
	"AnalyticsFilters.linkId": exampleLink, "AnalyticsFilters.domain": nil, "AnalyticsFilters.prefix": nil,
	"AnalyticsFilters.source":  nil,
	"AnalyticsFilters.country": nil, "AnalyticsFilters.device": nil, "AnalyticsFilters.eventType": nil,
	"AnalyticsPeriod.start": "2026-11-01T00:00:00.000Z", "AnalyticsPeriod.end": noon,
	"AnalyticsPeriod.startInclusive": true,
	"AnalyticsPeriod.endExclusive":   true, "AnalyticsPeriod.timezone": "UTC",
	"AnalyticsTotals.clicks": 1284.0, "AnalyticsTotals.uniqueVisitors": 967.0,
	"AnalyticsTotals.identifiedClicks": 0.0,
	"AnalyticsTotals.appOpens":         305.0, "AnalyticsTotals.contentViews": 298.0,
	"AnalyticsTotals.activeLinks":     1.0,
	"AnalyticsTotals.firstEventAt":    "2026-11-02T07:14:09.000Z",
	"AnalyticsTotals.lastEventAt":     "2026-11-20T11:58:41.000Z",
	"AnalyticsTimeseries.granularity": "day", "AnalyticsTimeseries.sparse": false,
	"AnalyticsBucket.start": "2026-11-02T00:00:00.000Z", "AnalyticsBucket.localLabel": "2026-11-02",
	"AnalyticsBucket.clicks": 87.0, "AnalyticsBucket.uniqueVisitors": 71.0, "AnalyticsBucket.identifiedClicks": 0.0,
	"AnalyticsBucket.appOpens": 20.0, "AnalyticsBucket.contentViews": 19.0,
	"AnalyticsBreakdown.dimension": "country", "AnalyticsBreakdown.truncated": false,
	"AnalyticsBreakdownItem.value": "DE", "AnalyticsBreakdownItem.events": 1203.0,
	"AnalyticsBreakdownItem.clicks": 811.0, "AnalyticsBreakdownItem.uniqueVisitors": 640.0,
	"AnalyticsBreakdownItem.identifiedClicks": 0.0, "AnalyticsBreakdownItem.appOpens": 199.0,
	"AnalyticsBreakdownItem.contentViews": 193.0,
	"AnalyticsTopLink.clicks":             1284.0, "AnalyticsTopLink.uniqueVisitors": 967.0,
	"AnalyticsTopLink.lastClickAt": "2026-11-20T11:58:41.000Z",
	"AnalyticsEvent.id":            "hybkjvsaf4-1pl9hp2ke7", "AnalyticsEvent.type": "click",
	"AnalyticsEvent.occurredAt": "2026-11-20T11:58:41.000Z", "AnalyticsEvent.group": "main",
	"AnalyticsEvent.campaignId": exampleCampaign, "AnalyticsEvent.folderId": exampleFolder,
	"AnalyticsEvent.device": "ios", "AnalyticsEvent.os": "iOS", "AnalyticsEvent.browser": "Safari",
	"AnalyticsEvent.source": "social", "AnalyticsEvent.referrerHost": "social.example.org",
	"AnalyticsEvent.ruleId": nil, "AnalyticsEvent.destination": "web", "AnalyticsEvent.identified": false,
	"AnalyticsNativeTotals.appOpens": 305.0, "AnalyticsNativeTotals.contentViews": 298.0,
	"AnalyticsNativeTotals.uniqueInstalls": 144.0, "AnalyticsNativePlatform.platform": "ios",
	"AnalyticsNativePlatform.appOpens": 305.0, "AnalyticsNativePlatform.contentViews": 298.0,
	"AnalyticsNativeBucket.start": "2026-11-02T00:00:00.000Z", "AnalyticsNativeBucket.localLabel": "2026-11-02",
	"AnalyticsNativeBucket.appOpens": 20.0, "AnalyticsNativeBucket.contentViews": 19.0,
	"AnalyticsRecoveryTotals.created": 60.0, "AnalyticsRecoveryTotals.matched": 45.0,
	"AnalyticsRecoveryTotals.expired": 13.0, "AnalyticsRecoveryTotals.matchRate": 0.75,
	"AnalyticsRecoveryBucket.start": "2026-11-02T00:00:00.000Z", "AnalyticsRecoveryBucket.localLabel": "2026-11-02",
	"AnalyticsRecoveryBucket.created": 4.0, "AnalyticsRecoveryBucket.matched": 3.0,

	"ApiKey.id": exampleKey, "ApiKey.name": "Newsletter server", "ApiKey.prefix": "svc_live_7Qm2",
	"ApiKey.expiresAt": in90Days,
	"ApiKey.appIds":    []any{exampleApp}, "ApiKey.permissions": []any{"links:read", "links:create"},
	"ApiKey.revokedAt":  nil,
	"ApiKeyCreate.name": "Newsletter server", "ApiKeyPatch.name": "Newsletter server in Berlin",
	"IssuedApiKey.secret": "svc_live_7Qm2xR9dTf4Kb1Zs6Vn3Hy8Lc5Wp0GaJ4eR8tUq",

	"App.id": exampleApp, "App.name": "Garden shop", "App.desktopUrl": "https://shop.example.com/",
	"App.createdAt":  morning,
	"AppCreate.name": "Garden shop", "AppPatch.name": "Garden shop and nursery",
	"AppDefaults.desktopUrl":     "https://shop.example.com/",
	"AppLogo.url":                "https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png",
	"AppLimits.activeOperations": 5.0, "AppLimits.automationRecords": 100.0, "AppLimits.webhooks": 10.0,
	"AppUsage.activeOperations": 1.0, "AppUsage.automationRecords": 3.0, "AppUsage.webhooks": 1.0,
	"RateLimit.limit": 600.0, "RateLimit.windowSeconds": 60.0, "RateLimitUsage.used": 12.0,
	"RateLimitUsage.resetAt": "2026-11-20T12:01:00.000Z",

	"Asset.id": exampleAsset, "Asset.url": "https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png",
	"Asset.byteSize": 48213.0,
	"Asset.width":    1200.0, "Asset.height": 630.0,

	"AuditActor.id": exampleUser, "AuditActor.name": "Ada Lovelace", "AuditEvent.id": exampleRecord,
	"AuditResource.type": "link", "AuditResource.id": exampleLink,
	"RequestRecord.method": "POST", "RequestRecord.route": "/v1/links", "RequestRecord.status": 201.0,
	"RequestRecord.durationMs": 4.0,

	"AutomationItemResult.linkId": exampleLink, "AutomationItemError.message": "The fields listed in details are not " +
		"valid.",
	"AutomationJob.id": exampleJob, "AutomationJob.state": "queued", "AutomationJob.expiresAt": nextDay,
	"ImportItem.clientId": "row-1",
	"ImportItem.state":    "succeeded", "ImportItem.error": nil,
	"DomainApexProfile.id": "a", "DomainApexProfile.name": "By address", "DomainApexRecord.value": "192.0.2.80",
	"DomainCapabilities.mode": "external",
	"DomainCapabilities.actions": map[string]any{"verify": true, "detach": true, "dns": false, "nativeConfig": true,
		"webConfig": true, "recovery": true, "templates": true},
	"DomainCapabilities.reasons": map[string]any{"dns": "The DNS of an external domain stays at its owner's provider."},
	"DomainConnection.cname":     "connect.example.com", "DomainConnection.a": []any{"192.0.2.80"},
	"DomainConnection.aaaa":       []any{"2001:db8::80"},
	"DomainOptions.platformZones": []any{"links.example.com"}, "DomainOptions.modes": []any{"platform", "external"},
	"DomainOptions.nameservers": []any{"ns1.example.com", "ns2.example.com"},
	"DomainLimits.prefix":       32.0, "DomainLimits.domains": 100.0,
	"ImportItem.input": map[string]any{"domain": "go.example.com", "slug": "spring",
		"desktopUrl": "https://shop.example.com/spring"},
	"ImportValidation.id": exampleJob, "ImportValidation.kind": "import", "ImportValidation.state": "validated",
	"ImportValidation.operationId": nil,
	"ImportValidation.total":       3.0, "ImportValidation.valid": 2.0, "ImportValidation.invalid": 1.0,
	"ImportValidation.expiresAt": nextDay,
	"BatchChange.clientId":       "spring", "BatchItem.clientId": "spring", "BatchItem.state": "succeeded",
	"BatchItem.error": nil,

	"Campaign.id": exampleCampaign, "Campaign.createdAt": morning, "Campaign.startsAt": noon,
	"Campaign.endsAt": in30Days, "Campaign.linkCount": 1.0,
	"Campaign.description": "Everything for the garden", "CampaignPatch.name": "Summer sale",
	"Capabilities.apiVersion": "1.0.0", "Principal.userId": exampleUser,
	"PermittedOperation.method": "POST", "PermittedOperation.path": "/links",
	"PermittedOperation.permission": "links:create",

	"Domain.id": exampleDomain, "Domain.mode": "platform", "Domain.ownership": "verified", "Domain.dns": "configured",
	"Domain.https": "delegated",
	"Domain.links": "ready", "Domain.removalState": nil, "Domain.zoneName": "example.com",
	"Domain.nameservers": []any{}, "Domain.connectionRecords": []any{}, "Domain.lastError": nil,
	"Domain.createdAt": morning, "Domain.challenge": nil,
	"DomainWebConfig.rootUrl": "https://shop.example.com/", "DomainWebConfig.notFoundUrl": nil,
	"DomainWebConfig.robots": "noindex", "DomainWebConfig.redirectStatus": 302.0,
	"DomainWebConfigInput.rootUrl": "https://shop.example.com/", "DomainWebConfigInput.robots": "noindex",
	"DomainRecoveryConfig.enabled": true, "DomainRecoveryConfig.tokenTtlSeconds": 86400.0,
	"DomainRecoveryConfigInput.enabled": true,
	"DomainChallenge.name":              "_waymark-challenge.go.example.com", "DomainChallenge.value": "7Qm2xR9dTf4Kb1Zs",
	"DomainDiagnostics.domainId": exampleDomain, "DomainCheck.name": "dns",
	"DomainCheck.message":  "go.example.com leads to this installation.",
	"DomainCheck.expected": []any{"connect.links.example.com"}, "DomainCheck.observed": []any{"connect.links.example.com"},
	"DnsConnectionRecord.type": "CNAME", "DnsConnectionRecord.name": "go.example.com",
	"DnsConnectionRecord.value": "connect.links.example.com",
	"DnsConnectionRecord.ttl":   300.0, "DnsConnectionRecord.status": "ok",
	"DnsConnectionRecord.observed": []any{"connect.links.example.com"},
	"IosNativeConfig.appIds":       []any{"A1B2C3D4E5.com.example.shop"}, "IosNativeConfig.paths": []any{"/*"},
	"AndroidAppInput.sha256CertFingerprints": []any{exampleCert},
	"AndroidApp.sha256CertFingerprints":      []any{exampleCert},
	"DnsRecord.id":                           exampleDNS, "DnsRecord.type": "TXT", "DnsRecord.name": "@",
	"DnsRecord.value": "v=spf1 include:_spf.example.net -all", "DnsRecord.ttl": 300.0, "DnsRecord.priority": nil,
	"DnsRecord.system": false, "DnsRecord.status": "ok", "DnsRecord.lastError": nil,
	"DnsRecord.observed":   []any{"v=spf1 include:_spf.example.net -all"},
	"DnsRecordCreate.type": "TXT", "DnsRecordCreate.name": "@",
	"DnsRecordCreate.value": "v=spf1 include:_spf.example.net -all", "DnsRecordCreate.ttl": 300.0,
	"DnsRecordCreate.priority": nil, "DnsRecordPatch.ttl": 3600.0, "DnsRecordPatch.priority": nil,
	"DnsRecordPatch.value": "v=spf1 include:_spf.example.net ~all",

	"Error.documentationUrl": "https://docs.waymark.example/api/errors/#validation-failed",
	"ErrorDependency.type":   "link", "ErrorDependency.count": 1.0, "ErrorDependency.ids": []any{exampleLink},
	"ErrorDetail.path": "/slug", "ErrorDetail.message": "the field is required",

	"Folder.id": exampleFolder, "Folder.name": "Newsletters", "Folder.description": "Links in our newsletters",
	"Folder.createdAt": morning,
	"Folder.linkCount": 1.0, "FolderCreate.name": "Newsletters", "FolderPatch.name": "Newsletters of 2026",

	"Link.tagIds": []any{exampleTag},
	"Link.id":     exampleLink, "Link.createdAt": noon, "Link.origin": "api", "Link.behavior": "automatic",
	"Link.group":      "main",
	"Link.parameters": map[string]any{"product": "42"}, "Link.templateData": map[string]any{},
	"Link.folderId":           exampleFolder,
	"Link.campaignId":         exampleCampaign,
	"LinkAvailability.slug":   "summer",
	"LinkAvailability.url":    "https://go.example.com/sale/summer",
	"LinkHistoryEntry.id":     exampleRecord,
	"LinkHistoryEntry.action": "updated", "LinkHistoryEntry.fields": []any{"title", "desktopUrl"},
	"LinkAvailability.available": true, "LinkAvailability.reason": nil,
	"LinkLifecycle.startsAt": noon, "LinkLifecycle.expiresAt": in30Days, "LinkLifecycle.maxClicks": nil,
	"LinkLifecycle.clicks":     nil,
	"LinkLifecycle.expiredUrl": "https://shop.example.com/",
	"LinkPreview.platform":     "desktop", "LinkPreview.nativeUri": nil, "LinkPreview.fallback": nil,
	"LinkPreview.matchedRuleId": nil,
	"LinkPreview.template":      nil, "LinkDuplicateRequest.slug": "summer", "LinkTags.tagIds": []any{exampleTag},
	"LinkTagsInput.tagIds": []any{exampleTag},
	"LinkValidation.valid": true, "LinkValidation.available": true, "LinkValidation.issues": []any{},
	"RoutingRule.id": exampleRule, "RoutingRule.platform": "ios", "RoutingRule.startsAt": nil,
	"RoutingRule.expiresAt":      nil,
	"RoutingRule.destinationUrl": "https://shop.example.com/de/spring",
	"Template.id":                exampleTemplate, "Template.name": "Spring sale on Android", "Template.createdAt": morning,
	"TemplateCreate.name": "Spring sale on Android", "TemplatePatch.name": "Spring sale on Android phones",
	"TemplateDuplicateRequest.name": "Summer sale on Android", "TemplateDuplicateRequest.sourceVersion": 1.0,
	"TemplateDraft.baseVersion": 1.0, "TemplateDraft.templateId": exampleTemplate,
	"TemplateAppearance.dark": map[string]any{"background": "#12171f", "surface": "#1b222c", "text": "#f2f5f8",
		"accent": "#7cc7b2"},
	"TemplateContent.heading":        "See {{offer}} in our app",
	"TemplateContent.supportingText": "It opens where the link leads.",
	"TemplateContent.actionLabels":   map[string]any{"open": "Open the app", "install": "Get it on Google Play"},
	"TemplateConfig.variables":       exampleVariables, "TemplateChoice.variables": exampleVariables,
	"TemplateDetail.label": "Offer", "TemplateDetail.value": "{{offer}}",
	"TemplateVersion.version": 1.0, "TemplateVersion.templateId": exampleTemplate,
	"TemplateVersionAvailability.version": 1.0, "TemplateAvailability.latestVersion": 1.0,
	"TemplateAvailability.templateId": exampleTemplate, "TemplateInUse.links": 12.0,
	"TemplateChoice.templateId": exampleTemplate, "TemplateChoice.name": "Spring sale on Android",
	"TemplateLimits.configBytes": 12288.0, "TemplateLimits.dataBytes": 8192.0, "TemplateLimits.variables": 20.0,
	"TemplateLimits.details":         4.0,
	"TemplateCatalogSchema.schema":   map[string]any{"type": "object"},
	"TemplatePreview.html":           "<!doctype html>\n<html lang=en>…</html>",
	"TemplatePreview.colorScheme":    nil,
	"TemplatePreview.bytes":          6204.0,
	"TemplatePreviewRequest.data":    map[string]any{"offer": "20% off"},
	"TemplateValidateRequest.data":   map[string]any{"offer": "20% off"},
	"TemplateValidation.valid":       true,
	"TemplateValidation.issues":      []any{},
	"TemplateValidation.configBytes": 1093.0, "TemplateValidation.dataBytes": 19.0,
	"TemplateSelections.android": nil, "TemplateSelections.ios": nil, "TemplateSelections.recovery": nil,
	"TemplateSelection.mode": "custom", "TemplateSelection.version": 1.0, "TemplateSelection.templateId": examplePage,
	"EffectiveTemplates.android": exampleChoice, "EffectiveTemplates.ios": officialChoice,
	"EffectiveTemplates.recovery": officialChoice,
	"TemplateDefaults.domainId":   nil, "TemplateDefaults.defaults": exampleChoices,
	"TemplateDefaultsInput.defaults":       map[string]any{"android": exampleChoice},
	"LinkTemplateSelection.selection":      exampleChoices,
	"LinkTemplateSelectionInput.selection": map[string]any{"android": exampleChoice},
	"TemplateBindingRevisions.ios":         nil, "TemplateBindingRevisions.recovery": nil,
	"TemplatePublication.id":    "0198c9a4-fb19-7b3c-9f42-6e1a5b8c0723",
	"TemplatePublication.state": "confirmed", "TemplatePublication.phase": "projection",
	"TemplatePublicationTarget.scope": "link", "TemplatePublicationTarget.state": "applied",
	"TemplatePublicationTarget.domainId": nil,
	"TemplatePublishRequest.targets":     exampleTargets, "TemplateRestoreRequest.targets": exampleTargets,
	"TemplateRestoreRequest.version": 1.0,
	"UtmParameters.medium":           "email", "UtmParameters.campaign": "spring-sale", "UtmParameters.term": nil,
	"UtmParameters.content": nil,

	"Operation.id": exampleWork, "Operation.createdAt": noon, "Operation.result": nil, "Operation.error": nil,
	"OperationResource.type": "domain", "OperationResource.id": exampleDomain, "OperationError.code": "items_failed",
	"OperationError.message": "No item succeeded. The error of each item says why.",
	"Profile.userId":         exampleUser, "ProfilePatch.displayName": "Ada King",
	"PublicationDetail.status": "synced", "PublicationDetail.lastError": nil, "PublicationState.status": "synced",
	"PublicationError.code": "store_unavailable", "PublicationError.message": "The redirector's store could not be " +
		"written.",

	"QrCode.id": exampleQR, "QrCode.name": "Poster of the spring sale",
	"QrCodeCreate.name": "Poster of the spring sale",
	"QrCodePatch.name":  "Flyer of the spring sale", "QrCode.size": 512.0, "QrCode.margin": 4.0,
	"QrCode.foreground": "#1a2b3c",
	"QrCode.background": "#ffffff", "QrCode.errorCorrection": "Q", "QrCode.logoAssetId": exampleAsset,
	"Tag.id": exampleTag, "Tag.name": "Garden", "Tag.description": "Plants, soil and tools", "Tag.createdAt": morning,
	"TagCreate.name": "Garden", "TagPatch.name": "Garden and balcony",

	"Webhook.id": exampleWebhook, "Webhook.url": "https://hooks.example.com/waymark",
	"Webhook.events":      []any{"link.created", "link.updated"},
	"Webhook.description": "Keeps our catalogue up to date", "Webhook.enabled": true, "Webhook.lastFailureAt": nil,
	"Webhook.createdAt":      morning,
	"WebhookAuthorizer.type": "api_key", "WebhookAuthorizer.id": exampleKey,
	"WebhookCreate.events": []any{"link.created", "link.updated"},
	"WebhookDelivery.id":   exampleDelivery, "WebhookDelivery.webhookId": exampleWebhook,
	"WebhookDelivery.eventId": exampleEvent,
	"WebhookDelivery.state":   "succeeded", "WebhookDelivery.attempts": 1.0, "WebhookDelivery.httpStatus": 204.0,
	"WebhookDelivery.error":         nil,
	"WebhookDelivery.nextAttemptAt": nil, "WebhookDeliveryError.message": "The receiver did not answer in time.",
	"WebhookEvent.id": exampleEvent, "WebhookEventResource.id": exampleLink,
	"IssuedWebhook.secret":                         "whsec_4Kb1Zs6Vn3Hy8Lc5Wp0Ga7Qm2xR9dTf0uE3iO6pA1sD",
	"RotatedWebhookSecret.secret":                  "whsec_9dTf4Kb1Zs6Vn3Hy8Lc5Wp0Ga7Qm2xR5gH2jK7lZ8cV",
	"RotatedWebhookSecret.previousSecretExpiresAt": nextDay,
}

// exampleVariables are those of a template.
var exampleVariables = []any{map[string]any{"key": "offer", "label": "Offer", "required": false, "maxLength": 60.0,
	"defaultValue": "our offers"}}

// answerExamples are members of the data that single operations answer.
var answerExamples = map[string]map[string]any{
	"createLinkBatches": {"kind": "batch", "total": 1.0, "expiresAt": in30Days},
	"createDomainsDomainIdDnsRecords": {
		"status": "pending", "observed": []any{}},
	"updateDomainsDomainIdDnsRecordsRecordId": {
		"status": "pending", "ttl": 3600.0, "value": "v=spf1 include:_spf.example.net ~all"},
	"getExportsExportId": {"state": "succeeded", "total": 42.0, "succeeded": 42.0,
		"downloadUrl": "/v1/exports/" + exampleJob + "/download"},
	"createImports":         {"kind": "import", "state": "uploaded", "total": 3.0, "operationId": nil},
	"commitImportsImportId": {"kind": "import", "total": 3.0, "invalid": 1.0, "expiresAt": in30Days},
	"getImportsImportId": {"kind": "import", "state": "partially_succeeded", "total": 3.0, "invalid": 1.0,
		"succeeded": 2.0, "expiresAt": in30Days},
	"cancelOperationsOperationId": {"type": "batch", "status": "cancel_requested"},
	"deleteApiKeysKeyId":          {"revokedAt": noon},
	"getCapabilities":             {"appId": nil},
	"updateApiKeysKeyId":          {"name": "Newsletter server in Berlin"},
	"updateAppsAppId":             {"name": "Garden shop and nursery"},
	"updateCampaignsCampaignId":   {"name": "Summer sale"},
	"updateFoldersFolderId":       {"name": "Newsletters of 2026"},
	"updateMe":                    {"displayName": "Ada King"},
	"updateMePreferences":         {"theme": "dark"},
	"updateQrCodesQrId":           {"name": "Flyer of the spring sale"},
	"updateTagsTagId":             {"name": "Garden and balcony"},
	"testWebhooksWebhookId": {"test": true, "eventType": "webhook.test", "state": "pending", "attempts": 0.0,
		"httpStatus": nil},
	"retryWebhookDeliveriesDeliveryId": {"state": "pending", "attempts": 0.0, "httpStatus": nil},
}

// exampleAnswer returns an example of the success of an operation.
func exampleAnswer(r *row, sample any) any {
	if data, ok := sample.(map[string]any)["data"].(map[string]any); ok {
		maps.Copy(data, answerExamples[r.ID])
		if _, link := data["lifecycle"]; link {
			delete(data, "tagIds") // is in lists only
		}
	}
	return sample
}

// exampleRefusal returns an example of the refusals with a status.
func exampleRefusal(status int) any {
	refusal := map[string]any{"requestId": exampleRequest}
	for _, e := range []*fault.Error{
		fault.InvalidQuery("limit", fault.ReasonOutOfRange, "must be from 1 to 100"),
		fault.New(fault.Unauthenticated, "The credential is missing, unknown, expired or revoked."),
		fault.New(fault.InsufficientPermission,
			"The credential does not hold the permission that this operation needs."),
		fault.Missing(),
		fault.New(fault.ResourceConflict, "The resource is in use, or its state does not allow this."),
		fault.Stale(),
		fault.New(fault.PayloadTooLarge, "The body exceeds %d bytes.", MaxBody),
		fault.New(fault.UnsupportedMediaType, "The body must be sent with Content-Type: application/json."),
		fault.Invalid("/slug", fault.ReasonRequired, "the field is required"),
		fault.New(fault.PreconditionRequired, "The operation needs If-Match with the revision last read."),
		fault.New(fault.RateLimited, "Too many calls. Wait as long as Retry-After says."),
		fault.New(fault.Internal, "The service failed. Quote the request id when you report it."),
		fault.New(fault.Unavailable, "The service cannot answer now. Try again later."),
	} {
		if e.Status() != status {
			continue
		}
		refusal["code"], refusal["message"], refusal["documentationUrl"] = e.Code, e.Message,
			documentation("https://docs.waymark.example", e.Code)
		if e.Details != nil {
			refusal["details"] = e.Details
		}
	}
	return map[string]any{"error": refusal}
}
