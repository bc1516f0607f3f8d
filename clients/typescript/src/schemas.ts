// Made of api/openapi.yaml by `npm run generate`.

/** The schemas of the contract. */
export interface components {
    schemas: {
        AnalyticsBreakdown: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            period: components["schemas"]["AnalyticsPeriod"];
            filters: components["schemas"]["AnalyticsFilters"];
            /** Format: date-time */
            generatedAt: string;
            coverage: components["schemas"]["AnalyticsCoverage"];
            /**
             * @example country
             * @enum {string}
             */
            dimension: "country" | "device" | "source" | "os" | "browser" | "referrer" | "link" | "domain" | "prefix" | "campaign" | "folder" | "tag" | "group" | "eventType";
            /**
             * @description There are more values than items.
             * @example false
             */
            truncated: boolean;
            items: components["schemas"]["AnalyticsBreakdownItem"][];
        };
        AnalyticsBreakdownItem: {
            /**
             * @description An id for link, campaign, folder and tag. null for events without one, and where it is not known.
             * @example DE
             */
            value: string | null;
            /**
             * @description Of all types.
             * @example 1203
             */
            events: number;
            /** @example 811 */
            clicks: number;
            /** @example 640 */
            uniqueVisitors: number;
            /**
             * @description Clicks with the id of an installation. 0 today: no click carries one.
             * @example 0
             */
            identifiedClicks: number;
            /** @example 199 */
            appOpens: number;
            /** @example 193 */
            contentViews: number;
            /** @description 0: nothing reports such events here. It is there for clients that expect it. */
            legacyContentLoads: number;
        };
        AnalyticsBreakdownResponse: {
            data: components["schemas"]["AnalyticsBreakdown"];
            meta: components["schemas"]["ResponseMeta"];
        };
        AnalyticsBucket: {
            /**
             * Format: date-time
             * @description Where the hour, day, week or month begins in the time zone, or the start of the period if that is later. The bucket ends where the next one starts.
             * @example 2026-11-02T00:00:00.000Z
             */
            start: string;
            /**
             * @description 2026-11-20T13:00, 2026-11-20, 2026-W47 or 2026-11. An hour that clocks show twice has its offset from UTC: 2026-10-25T02:00+02:00.
             * @example 2026-11-02
             */
            localLabel: string;
            /** @example 87 */
            clicks: number;
            /** @example 71 */
            uniqueVisitors: number;
            /**
             * @description Clicks with the id of an installation. 0 today: no click carries one.
             * @example 0
             */
            identifiedClicks: number;
            /** @example 20 */
            appOpens: number;
            /** @example 19 */
            contentViews: number;
            /** @description 0: nothing reports such events here. It is there for clients that expect it. */
            legacyContentLoads: number;
        };
        AnalyticsCampaign: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            period: components["schemas"]["AnalyticsPeriod"];
            filters: components["schemas"]["AnalyticsFilters"];
            /** Format: date-time */
            generatedAt: string;
            coverage: components["schemas"]["AnalyticsCoverage"];
            totals: components["schemas"]["AnalyticsTotals"];
            /** @description By days of the time zone. */
            buckets: components["schemas"]["AnalyticsBucket"][];
            /** @description Those with the most clicks. */
            topLinks: components["schemas"]["AnalyticsTopLink"][];
        };
        AnalyticsCampaignResponse: {
            data: components["schemas"]["AnalyticsCampaign"];
            meta: components["schemas"]["ResponseMeta"];
        };
        AnalyticsCoverage: {
            /** @example retained_events */
            source: string;
            /** @example none */
            grouping: string;
            /** @example included */
            deletedLinks: string;
            /** @example not_merged */
            historicalAggregates: string;
            /** @example estimate */
            uniqueVisitors: string;
            /** @example client_reported */
            nativeTrust: string;
            completenessGuaranteed: boolean;
            /**
             * @example [
             *       "Unique visitors are exact within a day and an estimate over days."
             *     ]
             */
            limitations: string[];
        };
        AnalyticsEvent: {
            /** @example hybkjvsaf4-1pl9hp2ke7 */
            id: string;
            /**
             * @example click
             * @enum {string}
             */
            type: "click" | "app_open" | "content_view" | "legacy_content_load" | "recovery_created" | "recovery_matched";
            /**
             * Format: date-time
             * @example 2026-11-20T11:58:41.000Z
             */
            occurredAt: string;
            /**
             * @description Opaque; percent-encode it in paths.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string;
            /**
             * @description Like all of the link, as it was when the event happened.
             * @example go.example.com
             */
            domain: string;
            /** @example sale */
            prefix: string;
            /** @example spring */
            slug: string;
            /** @example main */
            group: string;
            /** @example 0198c9a1-9a47-7e62-8275-914d8ebf3a56 */
            campaignId: string | null;
            /** @example 0198c9a1-5e13-7d59-9164-803c7dae2f45 */
            folderId: string | null;
            /**
             * @example ios
             * @enum {string}
             */
            device: "android" | "ios" | "desktop" | "other" | "bot";
            /** @example iOS */
            os: string | null;
            /** @example Safari */
            browser: string | null;
            /**
             * @description ISO 3166-1 alpha-2; ZZ where it is not known.
             * @example DE
             */
            country: string;
            /**
             * @example social
             * @enum {string}
             */
            source: "browser" | "social" | "qr" | "app" | "unknown";
            /** @example social.example.org */
            referrerHost: string | null;
            /**
             * @description It has the id of an installation. False for clicks today: none carries one.
             * @example false
             */
            identified: boolean;
            /** @description The routing rule that decided. */
            ruleId: string | null;
            /**
             * @example web
             * @enum {string}
             */
            destination: "web" | "store" | "app" | "page" | "none";
        };
        AnalyticsEvents: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            period: components["schemas"]["AnalyticsPeriod"];
            filters: components["schemas"]["AnalyticsFilters"];
            /** Format: date-time */
            generatedAt: string;
            coverage: components["schemas"]["AnalyticsCoverage"];
            items: components["schemas"]["AnalyticsEvent"][];
        };
        AnalyticsEventsResponse: {
            data: components["schemas"]["AnalyticsEvents"];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        AnalyticsFilters: {
            campaignId: string | null;
            folderId: string | null;
            tagId: string | null;
            /** @example all */
            group: string;
            /**
             * @description Opaque; percent-encode it in paths.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string | null;
            domain: string | null;
            prefix: string | null;
            device: string | null;
            source: string | null;
            /** @description ISO 3166-1 alpha-2; ZZ where it is not known. */
            country: string | null;
            eventType: string | null;
        };
        AnalyticsNative: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            period: components["schemas"]["AnalyticsPeriod"];
            filters: components["schemas"]["AnalyticsFilters"];
            /** Format: date-time */
            generatedAt: string;
            coverage: components["schemas"]["AnalyticsCoverage"];
            totals: components["schemas"]["AnalyticsNativeTotals"];
            byPlatform: components["schemas"]["AnalyticsNativePlatform"][];
            /** @description By days of the time zone. */
            buckets: components["schemas"]["AnalyticsNativeBucket"][];
        };
        AnalyticsNativeBucket: {
            /**
             * Format: date-time
             * @description Where the hour, day, week or month begins in the time zone, or the start of the period if that is later. The bucket ends where the next one starts.
             * @example 2026-11-02T00:00:00.000Z
             */
            start: string;
            /**
             * @description 2026-11-20T13:00, 2026-11-20, 2026-W47 or 2026-11. An hour that clocks show twice has its offset from UTC: 2026-10-25T02:00+02:00.
             * @example 2026-11-02
             */
            localLabel: string;
            /** @example 20 */
            appOpens: number;
            /** @example 19 */
            contentViews: number;
            /** @description 0: nothing reports such events here. It is there for clients that expect it. */
            legacyContentLoads: number;
        };
        AnalyticsNativePlatform: {
            /**
             * @example ios
             * @enum {string}
             */
            platform: "android" | "ios" | "desktop" | "other" | "bot";
            /** @example 305 */
            appOpens: number;
            /** @example 298 */
            contentViews: number;
        };
        AnalyticsNativeResponse: {
            data: components["schemas"]["AnalyticsNative"];
            meta: components["schemas"]["ResponseMeta"];
        };
        AnalyticsNativeTotals: {
            /** @example 305 */
            appOpens: number;
            /** @example 298 */
            contentViews: number;
            /** @description 0: nothing reports such events here. It is there for clients that expect it. */
            legacyContentLoads: number;
            /**
             * @description Installations that reported any of these with an installId.
             * @example 144
             */
            uniqueInstalls: number;
        };
        AnalyticsPeriod: {
            /**
             * Format: date-time
             * @example 2026-11-01T00:00:00.000Z
             */
            start: string;
            /**
             * Format: date-time
             * @example 2026-11-20T12:00:00.000Z
             */
            end: string;
            /**
             * @description An IANA time zone.
             * @example UTC
             */
            timezone: string;
            /** @example true */
            startInclusive: boolean;
            /** @example true */
            endExclusive: boolean;
        };
        AnalyticsRecovery: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            period: components["schemas"]["AnalyticsPeriod"];
            filters: components["schemas"]["AnalyticsFilters"];
            /** Format: date-time */
            generatedAt: string;
            coverage: components["schemas"]["AnalyticsCoverage"];
            totals: components["schemas"]["AnalyticsRecoveryTotals"];
            /** @description By days of the time zone. */
            buckets: components["schemas"]["AnalyticsRecoveryBucket"][];
        };
        AnalyticsRecoveryBucket: {
            /**
             * Format: date-time
             * @description Where the hour, day, week or month begins in the time zone, or the start of the period if that is later. The bucket ends where the next one starts.
             * @example 2026-11-02T00:00:00.000Z
             */
            start: string;
            /**
             * @description 2026-11-20T13:00, 2026-11-20, 2026-W47 or 2026-11. An hour that clocks show twice has its offset from UTC: 2026-10-25T02:00+02:00.
             * @example 2026-11-02
             */
            localLabel: string;
            /**
             * @description Tokens that visitors took along to a store.
             * @example 4
             */
            created: number;
            /**
             * @description Tokens by which an app found its link, created in the period or before it.
             * @example 3
             */
            matched: number;
        };
        AnalyticsRecoveryResponse: {
            data: components["schemas"]["AnalyticsRecovery"];
            meta: components["schemas"]["ResponseMeta"];
        };
        AnalyticsRecoveryTotals: {
            /**
             * @description Tokens that visitors took along to a store.
             * @example 60
             */
            created: number;
            /**
             * @description Tokens by which an app found its link, created in the period or before it.
             * @example 45
             */
            matched: number;
            /**
             * @description An estimate of the tokens of the period that can be matched no more and were not: those created less those matched until one lifetime ago, and never more than created less matched.
             * @example 13
             */
            expired: number;
            /**
             * @description matched divided by created; null without a token created. Tokens created before the period can bring it above 1.
             * @example 0.75
             */
            matchRate: number | null;
        };
        AnalyticsSummary: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            period: components["schemas"]["AnalyticsPeriod"];
            filters: components["schemas"]["AnalyticsFilters"];
            /** Format: date-time */
            generatedAt: string;
            coverage: components["schemas"]["AnalyticsCoverage"];
            totals: components["schemas"]["AnalyticsTotals"];
        };
        AnalyticsSummaryResponse: {
            data: components["schemas"]["AnalyticsSummary"];
            meta: components["schemas"]["ResponseMeta"];
        };
        AnalyticsTimeseries: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            period: components["schemas"]["AnalyticsPeriod"];
            filters: components["schemas"]["AnalyticsFilters"];
            /** Format: date-time */
            generatedAt: string;
            coverage: components["schemas"]["AnalyticsCoverage"];
            /**
             * @example day
             * @enum {string}
             */
            granularity: "hour" | "day" | "week" | "month";
            /**
             * @description False: buckets without events are there, with zeros.
             * @example false
             */
            sparse: boolean;
            buckets: components["schemas"]["AnalyticsBucket"][];
        };
        AnalyticsTimeseriesResponse: {
            data: components["schemas"]["AnalyticsTimeseries"];
            meta: components["schemas"]["ResponseMeta"];
        };
        AnalyticsTopLink: {
            /**
             * @description Opaque; percent-encode it in paths.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string;
            /**
             * @description Its title now; null when the link has none or was deleted.
             * @example Spring sale
             */
            title: string | null;
            /**
             * @description Like prefix and slug, those of the link's newest event.
             * @example go.example.com
             */
            domain: string;
            /** @example sale */
            prefix: string;
            /** @example spring */
            slug: string;
            /** @example 1284 */
            clicks: number;
            /** @example 967 */
            uniqueVisitors: number;
            /**
             * Format: date-time
             * @description The last click in the period.
             * @example 2026-11-20T11:58:41.000Z
             */
            lastClickAt: string;
        };
        AnalyticsTopLinks: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            period: components["schemas"]["AnalyticsPeriod"];
            filters: components["schemas"]["AnalyticsFilters"];
            /** Format: date-time */
            generatedAt: string;
            coverage: components["schemas"]["AnalyticsCoverage"];
            items: components["schemas"]["AnalyticsTopLink"][];
        };
        AnalyticsTopLinksResponse: {
            data: components["schemas"]["AnalyticsTopLinks"];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        AnalyticsTotals: {
            /** @example 1284 */
            clicks: number;
            /** @example 967 */
            uniqueVisitors: number;
            /**
             * @description Clicks with the id of an installation. 0 today: no click carries one.
             * @example 0
             */
            identifiedClicks: number;
            /** @example 305 */
            appOpens: number;
            /** @example 298 */
            contentViews: number;
            /** @description 0: nothing reports such events here. It is there for clients that expect it. */
            legacyContentLoads: number;
            /**
             * @description Links with a click in the period.
             * @example 1
             */
            activeLinks: number;
            /**
             * Format: date-time
             * @example 2026-11-02T07:14:09.000Z
             */
            firstEventAt: string | null;
            /**
             * Format: date-time
             * @example 2026-11-20T11:58:41.000Z
             */
            lastEventAt: string | null;
        };
        AndroidApp: {
            /** @example com.example.shop */
            packageName: string;
            /**
             * @description Upper-case, with colons.
             * @example [
             *       "14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:B2:3F:CF:44:E5"
             *     ]
             */
            sha256CertFingerprints: string[];
        };
        AndroidAppInput: {
            /** @description Omitted: the androidPackage of the app. */
            packageName?: string;
            /**
             * @description SHA-256 of the certificates that sign the app, as keytool or apksigner print them: 32 bytes in hexadecimal, with colons or without.
             * @example [
             *       "14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:B2:3F:CF:44:E5"
             *     ]
             */
            sha256CertFingerprints: string[];
        };
        AndroidNativeConfig: {
            apps: components["schemas"]["AndroidApp"][];
        };
        AndroidNativeConfigInput: {
            apps: components["schemas"]["AndroidAppInput"][];
        };
        ApiKey: {
            /**
             * Format: uuid
             * @example 0198c9a0-4d21-7b36-9f42-6e1a5b8c0d23
             */
            id: string;
            /** @example Newsletter server */
            name: string;
            /**
             * @description The non-secret leading part of the key.
             * @example svc_live_7Qm2
             */
            prefix: string;
            /**
             * @description Empty once the last of its apps was deleted: the key then reaches nothing.
             * @example [
             *       "app_01k6fq4w8m3x7c9v2n5b1t0rzy"
             *     ]
             */
            appIds: string[];
            /**
             * @example [
             *       "links:read",
             *       "links:create"
             *     ]
             */
            permissions: string[];
            /**
             * Format: date-time
             * @example 2027-02-18T12:00:00.000Z
             */
            expiresAt: string;
            /** Format: date-time */
            createdAt: string;
            /**
             * Format: date-time
             * @description Not part of the revision.
             */
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description In the future while a rotated key overlaps with its successor.
             */
            revokedAt: string | null;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
        };
        ApiKeyCreate: {
            /** @example Newsletter server */
            name: string;
            /**
             * @description Apps the key may reach, all of the owner.
             * @example [
             *       "app_01k6fq4w8m3x7c9v2n5b1t0rzy"
             *     ]
             */
            appIds: string[];
            /**
             * @description Permissions of operations that do not need a human session.
             * @example [
             *       "links:read",
             *       "links:create"
             *     ]
             */
            permissions: string[];
            /**
             * Format: date-time
             * @description Default 90 days from now, at most 365 days.
             */
            expiresAt?: string;
        };
        ApiKeyListResponse: {
            data: components["schemas"]["ApiKey"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        ApiKeyPatch: {
            /** @example Newsletter server in Berlin */
            name?: string;
            /** @description A part of the current apps. */
            appIds?: string[];
            /** @description A part of the current permissions. */
            permissions?: string[];
        };
        ApiKeyResponse: {
            data: components["schemas"]["ApiKey"];
            meta: components["schemas"]["ResponseMeta"];
        };
        ApiKeyRotateRequest: {
            overlapSeconds: number;
        };
        App: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            id: string;
            /** @example Garden shop */
            name: string;
            /** @example go.example.com */
            defaultDomain: string | null;
            /** @example https://shop.example.com/ */
            desktopUrl: string | null;
            /** @example https://play.google.com/store/apps/details?id=com.example.shop */
            playStoreUrl: string | null;
            /** @example https://apps.apple.com/app/id1234567890 */
            appStoreUrl: string | null;
            /** @example shop */
            scheme: string | null;
            /** @example com.example.shop */
            androidPackage: string | null;
            /** @example com.example.shop */
            iosBundleId: string | null;
            /** @example A1B2C3D4E5 */
            iosTeamId: string | null;
            /** @example 0198c9a2-0a9c-7081-8497-b36fa0d15c78 */
            logoAssetId: string | null;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:00:00.000Z
             */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        AppCreate: {
            /** @example Garden shop */
            name: string;
            /**
             * @description A domain of this app that is ready for links.
             * @example go.example.com
             */
            defaultDomain?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://shop.example.com/spring
             */
            desktopUrl?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://play.google.com/store/apps/details?id=com.example.shop
             */
            playStoreUrl?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://apps.apple.com/app/id1234567890
             */
            appStoreUrl?: string | null;
            /**
             * @description Native scheme without ://.
             * @example shop
             */
            scheme?: string | null;
            /** @example com.example.shop */
            androidPackage?: string | null;
            /** @example com.example.shop */
            iosBundleId?: string | null;
            /** @example A1B2C3D4E5 */
            iosTeamId?: string | null;
        };
        AppDefaults: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @example go.example.com */
            defaultDomain: string | null;
            /** @example https://shop.example.com/ */
            desktopUrl: string | null;
            /** @example https://play.google.com/store/apps/details?id=com.example.shop */
            playStoreUrl: string | null;
            /** @example https://apps.apple.com/app/id1234567890 */
            appStoreUrl: string | null;
            /**
             * Format: uuid
             * @description The app's.
             */
            revision: string;
        };
        AppDefaultsInput: {
            /**
             * @description A domain of this app that is ready for links.
             * @example go.example.com
             */
            defaultDomain?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://shop.example.com/
             */
            desktopUrl?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://play.google.com/store/apps/details?id=com.example.shop
             */
            playStoreUrl?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://apps.apple.com/app/id1234567890
             */
            appStoreUrl?: string | null;
        };
        AppDefaultsResponse: {
            data: components["schemas"]["AppDefaults"];
            meta: components["schemas"]["ResponseMeta"];
        };
        AppLimits: {
            entry: components["schemas"]["RateLimit"];
            read: components["schemas"]["RateLimit"];
            write: components["schemas"]["RateLimit"];
            linkCreatePerMinute: components["schemas"]["RateLimit"];
            linkCreatePerHour: components["schemas"]["RateLimit"];
            uploadPerMinute: components["schemas"]["RateLimit"];
            /** @example 5 */
            activeOperations: number;
            /** @example 100 */
            automationRecords: number;
            /** @example 10 */
            webhooks: number;
        };
        AppListResponse: {
            data: components["schemas"]["App"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        AppLogo: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @example 0198c9a2-0a9c-7081-8497-b36fa0d15c78 */
            assetId: string | null;
            /** @example https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png */
            url: string | null;
            /**
             * Format: uuid
             * @description The app's.
             */
            revision: string;
        };
        AppLogoInput: {
            /**
             * @description An active image of the same app.
             * @example 0198c9a2-0a9c-7081-8497-b36fa0d15c78
             */
            assetId: string;
        };
        AppLogoResponse: {
            data: components["schemas"]["AppLogo"];
            meta: components["schemas"]["ResponseMeta"];
        };
        AppPatch: {
            /** @example Garden shop and nursery */
            name?: string;
            /**
             * @description A domain of this app that is ready for links.
             * @example go.example.com
             */
            defaultDomain?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://shop.example.com/spring
             */
            desktopUrl?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://play.google.com/store/apps/details?id=com.example.shop
             */
            playStoreUrl?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://apps.apple.com/app/id1234567890
             */
            appStoreUrl?: string | null;
            /**
             * @description Native scheme without ://.
             * @example shop
             */
            scheme?: string | null;
            /** @example com.example.shop */
            androidPackage?: string | null;
            /** @example com.example.shop */
            iosBundleId?: string | null;
            /** @example A1B2C3D4E5 */
            iosTeamId?: string | null;
        };
        AppResponse: {
            data: components["schemas"]["App"];
            meta: components["schemas"]["ResponseMeta"];
        };
        AppUsage: {
            entry: components["schemas"]["RateLimitUsage"];
            read: components["schemas"]["RateLimitUsage"];
            write: components["schemas"]["RateLimitUsage"];
            linkCreatePerMinute: components["schemas"]["RateLimitUsage"];
            linkCreatePerHour: components["schemas"]["RateLimitUsage"];
            uploadPerMinute: components["schemas"]["RateLimitUsage"];
            /** @example 1 */
            activeOperations: number;
            /** @example 3 */
            automationRecords: number;
            /** @example 1 */
            webhooks: number;
        };
        Asset: {
            /**
             * Format: uuid
             * @example 0198c9a2-0a9c-7081-8497-b36fa0d15c78
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uri
             * @description Public: whoever knows it can read the image.
             * @example https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png
             */
            url: string;
            /** @enum {string} */
            contentType: "image/png" | "image/jpeg";
            /** @example 48213 */
            byteSize: number;
            /** @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 */
            sha256: string;
            /** @example 1200 */
            width: number;
            /** @example 630 */
            height: number;
            /**
             * @description Not part of the revision.
             * @enum {string}
             */
            state: "active" | "deleting";
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        AssetListResponse: {
            data: components["schemas"]["Asset"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        AssetResponse: {
            data: components["schemas"]["Asset"];
            meta: components["schemas"]["ResponseMeta"];
        };
        AssetUpload: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @description A PNG or JPEG image of at most 1 MiB.
             * @example (the bytes of spring.png)
             */
            file: Blob;
        };
        AuditActor: {
            /** @enum {string} */
            type: "human" | "api_key";
            /** @example 0198c9a0-1c57-7a20-8e31-5d0f4a7b9c12 */
            id: string;
            /**
             * @description The user's display name or the key's name as it is now; null when there is none.
             * @example Ada Lovelace
             */
            name: string | null;
        };
        AuditEvent: {
            /**
             * Format: uuid
             * @example 0198c9a4-47fc-7809-8c1f-3be72859d4f0
             */
            id: string;
            /**
             * @description The name of an operation of this contract.
             * @example createLinks
             */
            operation: string;
            actor: components["schemas"]["AuditActor"];
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string | null;
            resource: components["schemas"]["AuditResource"];
            /**
             * @description A fresh UUID at each change.
             * @example f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90
             */
            revision: string | null;
            /**
             * @description The request id.
             * @example req_3f2a9c0d5b7e4816a2c4e6f80b1d3f57
             */
            correlationId: string;
            /** Format: date-time */
            createdAt: string;
        };
        AuditEventListResponse: {
            data: components["schemas"]["AuditEvent"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        AuditResource: {
            /** @example link */
            type: string;
            /** @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d */
            id: string;
        };
        AutomationItemError: {
            /**
             * @example validation_failed
             * @enum {string}
             */
            code: "invalid_request" | "unauthenticated" | "insufficient_permission" | "not_found" | "method_not_allowed" | "idempotency_conflict" | "operation_in_progress" | "secret_not_replayable" | "resource_conflict" | "revision_conflict" | "payload_too_large" | "unsupported_media_type" | "validation_failed" | "precondition_required" | "rate_limited" | "internal_error" | "service_unavailable";
            /**
             * @description For a person.
             * @example The fields listed in details are not valid.
             */
            message: string;
            /** @description What exactly was refused, at JSON Pointers into the item's input; absent when there is nothing to point at. */
            details?: components["schemas"]["ErrorDetail"][];
            dependencies?: components["schemas"]["ErrorDependency"][];
        };
        AutomationItemResult: {
            /**
             * @description Opaque; percent-encode it in paths.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
        };
        AutomationJob: {
            /**
             * Format: uuid
             * @example 0198c9a3-c794-76e7-8afd-19c50637b2de
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @enum {string} */
            kind: "export" | "batch" | "import";
            /**
             * @example queued
             * @enum {string}
             */
            state: "uploaded" | "validated" | "queued" | "running" | "succeeded" | "partially_succeeded" | "failed" | "cancelled" | "expired";
            /**
             * @description The operation to follow; null for an import that is not committed.
             * @example 0198c9a4-0fc8-77f8-9b0e-2ad61748c3ef
             */
            operationId: string | null;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /** @description How many items there are, or records in an export. */
            total: number;
            /** @description How many items of an import have invalid data: no commit tries them. 0 until the import is validated. */
            invalid: number;
            succeeded: number;
            /** @description How many items were tried and failed; those that are invalid are not among them. */
            failed: number;
            /**
             * Format: date-time
             * @description When the file of an export is removed; of a batch or an import, when the record is removed.
             * @example 2026-11-21T12:00:00.000Z
             */
            expiresAt: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Path of the file of an export; null before it is ready and after it is removed. */
            downloadUrl: string | null;
        };
        AutomationJobResponse: {
            data: components["schemas"]["AutomationJob"];
            meta: components["schemas"]["ResponseMeta"];
        };
        BatchChange: {
            /**
             * @description Unique in the batch.
             * @example spring
             */
            clientId: string;
            /** @enum {string} */
            action: "create" | "update" | "move" | "archive" | "delete";
            /**
             * @description For all but create.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId?: string;
            /**
             * Format: uuid
             * @description The link's revision last read; for all but create.
             */
            revision?: string;
            /**
             * @description create: a LinkCreate of the same app; update: a LinkPatch; move: its folderId; archive: its lifecycle.archived; delete: none. Fields that are unknown, missing or of another type refuse the batch; any other mistake is the item's error.
             * @example {
             *       "appId": "app_01k6fq4w8m3x7c9v2n5b1t0rzy",
             *       "desktopUrl": "https://shop.example.com/spring",
             *       "domain": "go.example.com",
             *       "slug": "spring"
             *     }
             */
            input?: {
                [key: string]: unknown;
            };
        };
        BatchCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            items: components["schemas"]["BatchChange"][];
        };
        BatchItem: {
            /** @example spring */
            clientId: string;
            ordinal: number;
            /**
             * @example succeeded
             * @enum {string}
             */
            state: "pending" | "succeeded" | "failed" | "cancelled";
            result: components["schemas"]["AutomationItemResult"] | null;
            error: components["schemas"]["AutomationItemError"] | null;
        };
        BatchItemListResponse: {
            data: components["schemas"]["BatchItem"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        CallLimits: {
            entry: components["schemas"]["RateLimit"];
            read: components["schemas"]["RateLimit"];
            write: components["schemas"]["RateLimit"];
        };
        CallUsage: {
            entry: components["schemas"]["RateLimitUsage"];
            read: components["schemas"]["RateLimitUsage"];
            write: components["schemas"]["RateLimitUsage"];
        };
        Campaign: {
            /**
             * Format: uuid
             * @example 0198c9a1-9a47-7e62-8275-914d8ebf3a56
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @description Unique in the app, ignoring case.
             * @example Spring sale
             */
            name: string;
            /** @example Everything for the garden */
            description: string | null;
            archived: boolean;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:00:00.000Z
             */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            utm: components["schemas"]["UtmParameters"];
            /**
             * Format: date-time
             * @description For the owner's own use: links have their own lifecycle.
             * @example 2026-11-20T12:00:00.000Z
             */
            startsAt: string | null;
            /**
             * Format: date-time
             * @example 2026-12-20T12:00:00.000Z
             */
            endsAt: string | null;
            /**
             * @description How many links refer to it. Not part of the revision.
             * @example 1
             */
            linkCount: number;
        };
        CampaignCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @example Spring sale */
            name: string;
            /** @example Everything for the garden */
            description?: string | null;
            archived?: boolean;
            utm?: components["schemas"]["UtmParametersInput"];
            /** Format: date-time */
            startsAt?: string | null;
            /** Format: date-time */
            endsAt?: string | null;
        };
        CampaignListResponse: {
            data: components["schemas"]["Campaign"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        CampaignPatch: {
            /** @example Summer sale */
            name?: string;
            /** @example Everything for the garden */
            description?: string | null;
            archived?: boolean;
            utm?: components["schemas"]["UtmParametersInput"];
            /** Format: date-time */
            startsAt?: string | null;
            /** Format: date-time */
            endsAt?: string | null;
        };
        CampaignResponse: {
            data: components["schemas"]["Campaign"];
            meta: components["schemas"]["ResponseMeta"];
        };
        Capabilities: {
            /** @enum {string} */
            environment: "production" | "staging";
            /** @example 1.0.0 */
            apiVersion: string;
            principal: components["schemas"]["Principal"];
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string | null;
            operations: components["schemas"]["PermittedOperation"][];
        };
        CapabilitiesResponse: {
            data: components["schemas"]["Capabilities"];
            meta: components["schemas"]["ResponseMeta"];
        };
        DnsConnectionRecord: {
            /** @example CNAME */
            type: string;
            /** @example go.example.com */
            name: string;
            /** @example connect.links.example.com */
            value: string;
            /** @example 300 */
            ttl: number;
            /**
             * @example ok
             * @enum {string}
             */
            status: "pending" | "ok" | "wrong";
            /**
             * @example [
             *       "connect.links.example.com"
             *     ]
             */
            observed: string[];
        };
        DnsRecord: {
            /**
             * Format: uuid
             * @example 0198c9a4-8b3d-791a-9d20-4cf8396ae501
             */
            id: string;
            /** @example 0198c9a1-0b8f-7c4d-8053-7f2b6c9d1e34 */
            domainId: string;
            /**
             * @example TXT
             * @enum {string}
             */
            type: "A" | "AAAA" | "CNAME" | "TXT" | "MX" | "CAA" | "SRV" | "NS";
            /**
             * @description Relative to the domain's hostname, whatever its zone; @ is the hostname itself.
             * @example @
             */
            name: string;
            /**
             * @description As zone files have it, hostnames without a final dot, texts without quotes, MX and SRV without their priority.
             * @example v=spf1 include:_spf.example.net -all
             */
            value: string;
            /**
             * @description Seconds. All records of one name and type have the same.
             * @example 300
             */
            ttl: number;
            /** @description Of MX and SRV; null for others. */
            priority: number | null;
            /**
             * @description Made by the installation, and read only.
             * @example false
             */
            system: boolean;
            /**
             * @description Whether the DNS provider has the records of this name and type: pending while they are brought there, wrong when it has others or they could not be brought there. Not part of the revision.
             * @example ok
             * @enum {string}
             */
            status: "pending" | "ok" | "wrong";
            /**
             * @description What the DNS provider had for this name and type at the last look, MX and SRV with their priority. Not part of the revision.
             * @example [
             *       "v=spf1 include:_spf.example.net -all"
             *     ]
             */
            observed: string[];
            /** @description Why the status is wrong, and what to do. Not part of the revision. */
            lastError: components["schemas"]["PublicationError"] | null;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        DnsRecordCreate: {
            /**
             * @example TXT
             * @enum {string}
             */
            type: "A" | "AAAA" | "CNAME" | "TXT" | "MX" | "CAA" | "SRV" | "NS";
            /**
             * @description Relative to the domain's hostname; @ is the hostname itself.
             * @example @
             */
            name: string;
            /**
             * @description As zone files have it, MX and SRV without their priority; a text without quotes.
             * @example v=spf1 include:_spf.example.net -all
             */
            value: string;
            /**
             * @description Seconds, for all records of the name and type. Default: that of the others, else 300.
             * @example 300
             */
            ttl?: number;
            /** @description For MX and SRV, which need one. */
            priority?: number | null;
        };
        DnsRecordListResponse: {
            data: components["schemas"]["DnsRecord"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        DnsRecordPatch: {
            /** @example v=spf1 include:_spf.example.net ~all */
            value?: string;
            /**
             * @description Seconds, for all records of the name and type.
             * @example 3600
             */
            ttl?: number;
            /** @description Of MX and SRV. */
            priority?: number | null;
        };
        DnsRecordResponse: {
            data: components["schemas"]["DnsRecord"];
            meta: components["schemas"]["ResponseMeta"];
        };
        Domain: {
            /**
             * Format: uuid
             * @example 0198c9a1-0b8f-7c4d-8053-7f2b6c9d1e34
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @example go.example.com */
            hostname: string;
            /**
             * @example platform
             * @enum {string}
             */
            mode: "platform" | "managed" | "external";
            /**
             * @description Observed; not part of the revision.
             * @example verified
             * @enum {string}
             */
            ownership: "unverified" | "pending" | "verified" | "failed";
            /**
             * @description Observed; not part of the revision.
             * @example configured
             * @enum {string}
             */
            dns: "pending" | "configured" | "misconfigured";
            /**
             * @description Observed; not part of the revision.
             * @example delegated
             * @enum {string}
             */
            https: "pending" | "issuing" | "active" | "failed" | "delegated";
            /**
             * @description Whether links can be made. Observed; not part of the revision.
             * @example ready
             * @enum {string}
             */
            links: "pending" | "ready" | "blocked";
            detached: boolean;
            /**
             * @description Not part of the revision.
             * @enum {string|null}
             */
            removalState: "pending" | "removing" | "removed" | "failed" | null;
            canManageDns: boolean;
            /**
             * @description The DNS zone of the hostname; of a managed domain the one at the DNS provider. Not part of the revision.
             * @example example.com
             */
            zoneName: string;
            /** @example [] */
            nameservers: string[];
            challenge: components["schemas"]["DomainChallenge"] | null;
            /** @example [] */
            connectionRecords: components["schemas"]["DnsConnectionRecord"][];
            nativeConfig: components["schemas"]["DomainNativeConfig"];
            /** @description Not part of the revision. */
            publication: components["schemas"]["PublicationState"];
            /**
             * Format: date-time
             * @description Not part of the revision.
             */
            lastCheckedAt: string | null;
            /** @description Not part of the revision. */
            lastError: components["schemas"]["PublicationError"] | null;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:00:00.000Z
             */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        DomainActionReasons: {
            verify?: string;
            detach?: string;
            dns?: string;
            nativeConfig?: string;
            webConfig?: string;
            recovery?: string;
            templates?: string;
        };
        DomainActions: {
            verify: boolean;
            detach: boolean;
            /** @description Whether its DNS records are changed through this API. */
            dns: boolean;
            nativeConfig: boolean;
            webConfig: boolean;
            recovery: boolean;
            templates: boolean;
        };
        DomainApexProfile: {
            /**
             * @description The apexProfileId of createDomains.
             * @example a
             */
            id: string;
            /** @example By address */
            name: string;
            records: components["schemas"]["DomainApexRecord"][];
        };
        DomainApexRecord: {
            /** @enum {string} */
            type: "A" | "AAAA";
            /** @example 192.0.2.80 */
            value: string;
        };
        DomainCapabilities: {
            /** Format: uuid */
            domainId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /**
             * @example external
             * @enum {string}
             */
            mode: "platform" | "managed" | "external";
            actions: components["schemas"]["DomainActions"];
            /** @description Why an action is not possible. */
            reasons: components["schemas"]["DomainActionReasons"];
        };
        DomainCapabilitiesResponse: {
            data: components["schemas"]["DomainCapabilities"];
            meta: components["schemas"]["ResponseMeta"];
        };
        DomainChallenge: {
            /** @enum {string} */
            type: "TXT";
            /** @example _waymark-challenge.go.example.com */
            name: string;
            /** @example 7Qm2xR9dTf4Kb1Zs */
            value: string;
            /** @enum {string} */
            status: "pending" | "verified";
            /** Format: date-time */
            expiresAt: string | null;
        };
        DomainCheck: {
            /**
             * @example dns
             * @enum {string}
             */
            name: "ownership" | "dns" | "https" | "links" | "native_ios" | "native_android" | "zone";
            /** @enum {string} */
            status: "ok" | "warning" | "failed" | "skipped";
            /**
             * @description What was seen and, unless it is right, what to do.
             * @example go.example.com leads to this installation.
             */
            message: string;
            /**
             * @example [
             *       "connect.links.example.com"
             *     ]
             */
            expected: string[];
            /**
             * @example [
             *       "connect.links.example.com"
             *     ]
             */
            observed: string[];
        };
        DomainConnection: {
            /**
             * @description Target of a CNAME record; null when hostnames need addresses.
             * @example connect.example.com
             */
            cname: string | null;
            /**
             * @description IPv4 addresses for A records.
             * @example [
             *       "192.0.2.80"
             *     ]
             */
            a: string[];
            /**
             * @description IPv6 addresses for AAAA records.
             * @example [
             *       "2001:db8::80"
             *     ]
             */
            aaaa: string[];
        };
        DomainCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @enum {string} */
            mode: "platform" | "managed" | "external";
            /**
             * @description For platform: the label below the platform zone.
             * @example go
             */
            prefix?: string | null;
            /**
             * @description For managed and external. International names may be written in their own script.
             * @example go.example.com
             */
            hostname?: string | null;
            /** @description For external: which of the apexProfiles of getDomainOptions connects the hostname. Without one it connects by CNAME. */
            apexProfileId?: string | null;
        };
        DomainDiagnostics: {
            /**
             * Format: uuid
             * @example 0198c9a1-0b8f-7c4d-8053-7f2b6c9d1e34
             */
            domainId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /** Format: date-time */
            generatedAt: string;
            checks: components["schemas"]["DomainCheck"][];
        };
        DomainDiagnosticsResponse: {
            data: components["schemas"]["DomainDiagnostics"];
            meta: components["schemas"]["ResponseMeta"];
        };
        DomainLimits: {
            /**
             * @description Most characters of a prefix.
             * @example 32
             */
            prefix: number;
            /**
             * @description Most domains of one app.
             * @example 100
             */
            domains: number;
        };
        DomainListResponse: {
            data: components["schemas"]["Domain"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        DomainNativeConfig: {
            ios: components["schemas"]["IosNativeConfig"] | null;
            android: components["schemas"]["AndroidNativeConfig"] | null;
        };
        DomainNativeConfigInput: {
            /** @description Omitted or null: no iOS app opens the links. */
            ios?: components["schemas"]["IosNativeConfigInput"] | null;
            /** @description Omitted or null: no Android app opens the links. */
            android?: components["schemas"]["AndroidNativeConfigInput"] | null;
        };
        DomainNativeConfigState: {
            /** @example 0198c9a1-0b8f-7c4d-8053-7f2b6c9d1e34 */
            domainId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uuid
             * @description The domain's.
             */
            revision: string;
            config: components["schemas"]["DomainNativeConfig"];
            /** @description The domain's; not part of the revision. */
            publication: components["schemas"]["PublicationState"];
        };
        DomainNativeConfigStateResponse: {
            data: components["schemas"]["DomainNativeConfigState"];
            meta: components["schemas"]["ResponseMeta"];
        };
        DomainOptions: {
            /**
             * @description The modes that createDomains accepts here.
             * @example [
             *       "platform",
             *       "external"
             *     ]
             */
            modes: ("platform" | "managed" | "external")[];
            /**
             * @description Zones below which platform domains are made.
             * @example [
             *       "links.example.com"
             *     ]
             */
            platformZones: string[];
            /** @description How a hostname connects that cannot have a CNAME, such as example.com. */
            apexProfiles: components["schemas"]["DomainApexProfile"][];
            connection: components["schemas"]["DomainConnection"];
            /**
             * @description Where the zone of a managed domain is delegated to.
             * @example [
             *       "ns1.example.com",
             *       "ns2.example.com"
             *     ]
             */
            nameservers: string[];
            limits: components["schemas"]["DomainLimits"];
        };
        DomainOptionsResponse: {
            data: components["schemas"]["DomainOptions"];
            meta: components["schemas"]["ResponseMeta"];
        };
        DomainRecoveryConfig: {
            /** @example true */
            enabled: boolean;
            /**
             * @description How long after the visit the link is found.
             * @example 86400
             */
            tokenTtlSeconds: number;
            /**
             * @description What tells the link: a token that the visit gives to the app, or nothing.
             * @enum {string}
             */
            matching: "token" | "none";
        };
        DomainRecoveryConfigInput: {
            /** @example true */
            enabled: boolean;
            /** @default 86400 */
            tokenTtlSeconds?: number;
            /**
             * @default token
             * @enum {string}
             */
            matching?: "token" | "none";
        };
        DomainRecoveryConfigState: {
            /** @example 0198c9a1-0b8f-7c4d-8053-7f2b6c9d1e34 */
            domainId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uuid
             * @description The domain's.
             */
            revision: string;
            config: components["schemas"]["DomainRecoveryConfig"];
            /** @description The domain's; not part of the revision. */
            publication: components["schemas"]["PublicationState"];
        };
        DomainRecoveryConfigStateResponse: {
            data: components["schemas"]["DomainRecoveryConfigState"];
            meta: components["schemas"]["ResponseMeta"];
        };
        DomainResponse: {
            data: components["schemas"]["Domain"];
            meta: components["schemas"]["ResponseMeta"];
        };
        DomainVerifyRequest: Record<string, never>;
        DomainWebConfig: {
            /**
             * @description Where visitors of the hostname itself are sent; null: a page with the status 404.
             * @example https://shop.example.com/
             */
            rootUrl: string | null;
            /** @description Where visitors of an unknown path are sent; null: a page with the status 404. */
            notFoundUrl: string | null;
            /**
             * @description What robots.txt allows to search engines: all, or nothing.
             * @example noindex
             * @enum {string}
             */
            robots: "index" | "noindex";
            /**
             * @description The status with which links redirect.
             * @example 302
             * @enum {integer}
             */
            redirectStatus: 302 | 307;
        };
        DomainWebConfigInput: {
            /**
             * @description HTTPS, without user or password, not on a hostname of this installation.
             * @example https://shop.example.com/
             */
            rootUrl?: string | null;
            /** @description HTTPS, without user or password, not on a hostname of this installation. */
            notFoundUrl?: string | null;
            /**
             * @default index
             * @example noindex
             * @enum {string}
             */
            robots?: "index" | "noindex";
            /**
             * @default 302
             * @enum {integer}
             */
            redirectStatus?: 302 | 307;
        };
        DomainWebConfigState: {
            /** @example 0198c9a1-0b8f-7c4d-8053-7f2b6c9d1e34 */
            domainId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uuid
             * @description The domain's.
             */
            revision: string;
            config: components["schemas"]["DomainWebConfig"];
            /** @description The domain's; not part of the revision. */
            publication: components["schemas"]["PublicationState"];
        };
        DomainWebConfigStateResponse: {
            data: components["schemas"]["DomainWebConfigState"];
            meta: components["schemas"]["ResponseMeta"];
        };
        EffectiveTemplates: {
            android: components["schemas"]["TemplateSelection"];
            ios: components["schemas"]["TemplateSelection"];
            recovery: components["schemas"]["TemplateSelection"];
        };
        Error: {
            /** @enum {string} */
            code: "invalid_request" | "unauthenticated" | "insufficient_permission" | "not_found" | "method_not_allowed" | "idempotency_conflict" | "operation_in_progress" | "secret_not_replayable" | "resource_conflict" | "revision_conflict" | "payload_too_large" | "unsupported_media_type" | "validation_failed" | "precondition_required" | "rate_limited" | "internal_error" | "service_unavailable";
            /** @description What was wrong and what to do, for a person. */
            message: string;
            /** @example req_3f2a9c0d5b7e4816a2c4e6f80b1d3f57 */
            requestId: string;
            /**
             * Format: uri
             * @description Where the code is explained.
             * @example https://docs.waymark.example/api/errors/#validation-failed
             */
            documentationUrl: string;
            /** @description What exactly was refused; absent when there is nothing to point at. */
            details?: components["schemas"]["ErrorDetail"][];
            /** @description The resource of the earlier intent, on idempotency_conflict and secret_not_replayable. */
            resource?: components["schemas"]["ErrorResource"];
            /** @description What stands in the way, on resource_conflict. */
            dependencies?: components["schemas"]["ErrorDependency"][];
        };
        ErrorDependency: {
            /** @example link */
            type: string;
            /** @example 1 */
            count: number;
            /**
             * @example [
             *       "go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d"
             *     ]
             */
            ids: string[];
            /**
             * Format: date-time
             * @description From when on these do not stand in the way any more; absent when they stay until they are removed.
             */
            availableAt?: string;
        };
        ErrorDetail: {
            /**
             * @description A JSON Pointer into the body, query.<name> or header.<name>.
             * @example /slug
             */
            path: string;
            /** @enum {string} */
            code: "required" | "unknown_field" | "repeated" | "wrong_type" | "not_one_of" | "invalid_format" | "invalid_text" | "invalid_url" | "too_short" | "too_long" | "too_few" | "too_many" | "too_large" | "out_of_range" | "duplicate" | "unknown_reference" | "unknown_column" | "unknown_permission" | "widening" | "taken" | "reserved" | "not_allowed" | "redirect_loop" | "unreadable" | "unsupported_type" | "type_mismatch" | "undecodable" | "low_contrast" | "invalid";
            /**
             * @description What is wrong and what is allowed, for a person.
             * @example the field is required
             */
            message: string;
        };
        ErrorResource: {
            /** @example 0198c9a4-47fc-7809-8c1f-3be72859d4f0 */
            id: string;
        };
        ErrorResponse: {
            error: components["schemas"]["Error"];
        };
        ExportCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @enum {string} */
            dataset: "links" | "events" | "summary";
            /** @enum {string} */
            format: "csv" | "json";
            /** @description For links: the filters of getLinks, all optional. For events and summary: start and end (required), timezone (UTC) and group. */
            filters?: {
                [key: string]: unknown;
            };
        };
        Folder: {
            /**
             * Format: uuid
             * @example 0198c9a1-5e13-7d59-9164-803c7dae2f45
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @description Unique in the app, ignoring case.
             * @example Newsletters
             */
            name: string;
            /** @example Links in our newsletters */
            description: string | null;
            archived: boolean;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:00:00.000Z
             */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /**
             * @description How many links refer to it. Not part of the revision.
             * @example 1
             */
            linkCount: number;
        };
        FolderCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @example Newsletters */
            name: string;
            /** @example Everything for the garden */
            description?: string | null;
            archived?: boolean;
        };
        FolderListResponse: {
            data: components["schemas"]["Folder"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        FolderPatch: {
            /** @example Newsletters of 2026 */
            name?: string;
            /** @example Everything for the garden */
            description?: string | null;
            archived?: boolean;
        };
        FolderResponse: {
            data: components["schemas"]["Folder"];
            meta: components["schemas"]["ResponseMeta"];
        };
        ImportCommitRequest: Record<string, never>;
        ImportCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @enum {string} */
            format: "csv" | "json";
            /**
             * @description A CSV text with a header, or a JSON array of objects: at most 24,000 bytes and 50 links.
             * @example domain,slug,desktopUrl
             *     go.example.com,spring,https://shop.example.com/spring
             */
            content: string;
            /** @description The field that each column gives, as {"long_url": "desktopUrl"}, and constants, as {"webOnly": {"value": true}}, for rows that say nothing about a field. Columns that it does not name are ignored; where it names none, the columns must be named as fields. */
            mapping?: {
                [key: string]: string | {
                    /** @description A value as in createLinks. */
                    value: unknown;
                };
            };
        };
        ImportItem: {
            /**
             * @description row-1, row-2 and so on where the content gives none.
             * @example row-1
             */
            clientId: string;
            ordinal: number;
            /**
             * @example succeeded
             * @enum {string}
             */
            state: "pending" | "valid" | "invalid" | "succeeded" | "failed" | "cancelled";
            /**
             * @description The fields of the link as they were read. Store pages that neither the row nor the mapping gives are null: an import does not take the app's.
             * @example {
             *       "desktopUrl": "https://shop.example.com/spring",
             *       "domain": "go.example.com",
             *       "slug": "spring"
             *     }
             */
            input: {
                [key: string]: unknown;
            } | null;
            result: components["schemas"]["AutomationItemResult"] | null;
            error: components["schemas"]["AutomationItemError"] | null;
        };
        ImportItemListResponse: {
            data: components["schemas"]["ImportItem"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        ImportValidateRequest: Record<string, never>;
        ImportValidation: {
            /**
             * Format: uuid
             * @example 0198c9a3-c794-76e7-8afd-19c50637b2de
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @example import
             * @enum {string}
             */
            kind: "export" | "batch" | "import";
            /**
             * @example validated
             * @enum {string}
             */
            state: "uploaded" | "validated" | "queued" | "running" | "succeeded" | "partially_succeeded" | "failed" | "cancelled" | "expired";
            /** @description The operation to follow; null for an import that is not committed. */
            operationId: string | null;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /**
             * @description How many items there are, or records in an export.
             * @example 3
             */
            total: number;
            /**
             * @description How many items of an import have invalid data: no commit tries them. 0 until the import is validated.
             * @example 1
             */
            invalid: number;
            succeeded: number;
            /** @description How many items were tried and failed; those that are invalid are not among them. */
            failed: number;
            /**
             * Format: date-time
             * @description When the file of an export is removed; of a batch or an import, when the record is removed.
             * @example 2026-11-21T12:00:00.000Z
             */
            expiresAt: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Path of the file of an export; null before it is ready and after it is removed. */
            downloadUrl: string | null;
            /**
             * @description How many items a commit tries to create; total is valid and invalid.
             * @example 2
             */
            valid: number;
        };
        ImportValidationResponse: {
            data: components["schemas"]["ImportValidation"];
            meta: components["schemas"]["ResponseMeta"];
        };
        IosNativeConfig: {
            /**
             * @description TEAMID.bundle of each app.
             * @example [
             *       "A1B2C3D4E5.com.example.shop"
             *     ]
             */
            appIds: string[];
            /**
             * @description The first that matches a path decides; NOT keeps its paths in the browser.
             * @example [
             *       "/*"
             *     ]
             */
            paths: string[];
        };
        IosNativeConfigInput: {
            /**
             * @description TEAMID.bundle of each app. Omitted: the iosTeamId and iosBundleId of the app.
             * @example [
             *       "A1B2C3D4E5.com.example.shop"
             *     ]
             */
            appIds?: string[];
            /**
             * @description Each begins with / or is *, with NOT and a space before it where the app is not to open; * stands for any characters, ? for one. The first that matches decides. Omitted: all paths.
             * @example [
             *       "NOT /admin/*",
             *       "/*"
             *     ]
             */
            paths?: string[];
        };
        IssuedApiKey: {
            key: components["schemas"]["ApiKey"];
            /**
             * @description Shown this once; keep it.
             * @example svc_live_7Qm2xR9dTf4Kb1Zs6Vn3Hy8Lc5Wp0GaJ4eR8tUq
             */
            secret: string;
        };
        IssuedApiKeyResponse: {
            data: components["schemas"]["IssuedApiKey"];
            meta: components["schemas"]["ResponseMeta"];
        };
        IssuedWebhook: {
            webhook: components["schemas"]["Webhook"];
            /**
             * @description Signs every delivery; keep it at the receiver.
             * @example whsec_4Kb1Zs6Vn3Hy8Lc5Wp0Ga7Qm2xR9dTf0uE3iO6pA1sD
             */
            secret: string;
        };
        IssuedWebhookResponse: {
            data: components["schemas"]["IssuedWebhook"];
            meta: components["schemas"]["ResponseMeta"];
        };
        Link: {
            /**
             * @description Opaque; percent-encode it in paths.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @example go.example.com */
            domain: string;
            /** @example sale */
            prefix: string;
            /** @example spring */
            slug: string;
            /**
             * Format: uri
             * @description The public address.
             * @example https://go.example.com/sale/spring
             */
            url: string;
            /** @example 0198c9a1-5e13-7d59-9164-803c7dae2f45 */
            folderId: string | null;
            /** @example 0198c9a1-9a47-7e62-8275-914d8ebf3a56 */
            campaignId: string | null;
            lifecycle: components["schemas"]["LinkLifecycle"];
            utm: components["schemas"]["UtmParameters"];
            /** @example Spring sale */
            title: string | null;
            /** @example Everything for the garden */
            description: string | null;
            /** @example https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png */
            imageUrl: string | null;
            /** @example https://shop.example.com/spring */
            desktopUrl: string | null;
            /** @example https://play.google.com/store/apps/details?id=com.example.shop */
            playStoreUrl: string | null;
            /** @example https://apps.apple.com/app/id1234567890 */
            appStoreUrl: string | null;
            /** @example products/42 */
            appPath: string | null;
            /**
             * @example {
             *       "product": "42"
             *     }
             */
            parameters: {
                [key: string]: unknown;
            };
            webOnly: boolean;
            /**
             * @example automatic
             * @enum {string}
             */
            behavior: "manual" | "automatic" | "intelligent";
            /**
             * @example main
             * @enum {string}
             */
            group: "main" | "operational";
            /**
             * @description Who created the link; api for this API.
             * @example api
             */
            origin: string;
            /** @example {} */
            templateData: {
                [key: string]: unknown;
            };
            templateSelection: components["schemas"]["TemplateSelections"];
            /**
             * @description What the lifecycle comes to now; expired also when maxClicks is reached. Not part of the revision.
             * @enum {string}
             */
            state: "active" | "scheduled" | "expired" | "archived";
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /**
             * Format: date-time
             * @example 2026-11-20T12:00:00.000Z
             */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description Not part of the revision. */
            publication: components["schemas"]["PublicationState"];
            /**
             * @description In lists only, so that a table of links takes one call; getLinksLinkIdTags has those of one link.
             * @example [
             *       "0198c9a1-d26b-7f70-9386-a25e9fc04b67"
             *     ]
             */
            tagIds?: string[];
        };
        LinkAvailability: {
            /** @example true */
            available: boolean;
            /** @example go.example.com */
            domain: string;
            /** @example sale */
            prefix: string;
            /** @example summer */
            slug: string;
            /**
             * @description null when it cannot be an address.
             * @example https://go.example.com/sale/summer
             */
            url: string | null;
            /**
             * @description null when the address is free.
             * @enum {string|null}
             */
            reason: "taken" | "reserved" | "invalid" | null;
        };
        LinkAvailabilityResponse: {
            data: components["schemas"]["LinkAvailability"];
            meta: components["schemas"]["ResponseMeta"];
        };
        LinkCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @description A domain of the app that is ready for links.
             * @example go.example.com
             */
            domain: string;
            /** @example sale */
            prefix?: string;
            /** @example spring */
            slug: string;
            /** @example 0198c9a1-5e13-7d59-9164-803c7dae2f45 */
            folderId?: string | null;
            /** @example 0198c9a1-9a47-7e62-8275-914d8ebf3a56 */
            campaignId?: string | null;
            lifecycle?: components["schemas"]["LinkLifecycleInput"];
            utm?: components["schemas"]["UtmParametersInput"];
            /** @example Spring sale */
            title?: string | null;
            /** @example Everything for the garden */
            description?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png
             */
            imageUrl?: string | null;
            /**
             * @description HTTPS. Omitted on creation: the app's default.
             * @example https://shop.example.com/spring
             */
            desktopUrl?: string | null;
            /**
             * @description HTTPS. Omitted on creation: the app's default.
             * @example https://play.google.com/store/apps/details?id=com.example.shop
             */
            playStoreUrl?: string | null;
            /**
             * @description HTTPS. Omitted on creation: the app's default.
             * @example https://apps.apple.com/app/id1234567890
             */
            appStoreUrl?: string | null;
            /**
             * @description Relative path, read by the app: no scheme, no leading or double slash, no .. segment.
             * @example products/42
             */
            appPath?: string | null;
            /** @description At most 16 KiB, counted in UTF-8 without white space and needless escapes, and 5 levels deep. */
            parameters?: {
                [key: string]: unknown;
            };
            webOnly?: boolean;
            /**
             * @description Default manual.
             * @enum {string}
             */
            behavior?: "manual" | "automatic" | "intelligent";
            /**
             * @description Default operational.
             * @enum {string}
             */
            group?: "main" | "operational";
            templateData?: {
                [key: string]: unknown;
            };
            templateSelection?: components["schemas"]["TemplateSelectionsInput"];
        };
        LinkDuplicateRequest: {
            /**
             * @description Omitted: the original's.
             * @example go.example.com
             */
            domain?: string;
            /**
             * @description Omitted: the original's.
             * @example sale
             */
            prefix?: string;
            /** @example summer */
            slug: string;
            /**
             * @description Omitted: the original's.
             * @example Spring sale
             */
            title?: string | null;
        };
        LinkHistoryEntry: {
            /**
             * Format: uuid
             * @example 0198c9a4-47fc-7809-8c1f-3be72859d4f0
             */
            id: string;
            /**
             * @description Opaque; percent-encode it in paths.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @example updated
             * @enum {string}
             */
            action: "created" | "updated" | "deleted" | "archived" | "restored" | "tags_replaced" | "routing_rules_replaced" | "template_selection_replaced" | "resynced";
            /**
             * @description The names of what changed.
             * @example [
             *       "title",
             *       "desktopUrl"
             *     ]
             */
            fields: string[];
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /** Format: date-time */
            createdAt: string;
        };
        LinkHistoryEntryListResponse: {
            data: components["schemas"]["LinkHistoryEntry"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        LinkLifecycle: {
            archived: boolean;
            /**
             * Format: date-time
             * @description Inclusive.
             * @example 2026-11-20T12:00:00.000Z
             */
            startsAt: string | null;
            /**
             * Format: date-time
             * @description Exclusive.
             * @example 2026-12-20T12:00:00.000Z
             */
            expiresAt: string | null;
            /** @description How many human clicks resolve, counted from when a limit is first set. */
            maxClicks: number | null;
            /** @description How many human clicks are counted; null without a limit. Read only and not part of the revision. */
            clicks: number | null;
            /**
             * @description Where visitors go once the link is expired or its clicks are used up.
             * @example https://shop.example.com/
             */
            expiredUrl: string | null;
        };
        LinkLifecycleInput: {
            archived?: boolean;
            /** Format: date-time */
            startsAt?: string | null;
            /** Format: date-time */
            expiresAt?: string | null;
            maxClicks?: number | null;
            /** @example https://shop.example.com/spring */
            expiredUrl?: string | null;
        };
        LinkListResponse: {
            data: components["schemas"]["Link"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        LinkPatch: {
            /** @example 0198c9a1-5e13-7d59-9164-803c7dae2f45 */
            folderId?: string | null;
            /** @example 0198c9a1-9a47-7e62-8275-914d8ebf3a56 */
            campaignId?: string | null;
            lifecycle?: components["schemas"]["LinkLifecycleInput"];
            utm?: components["schemas"]["UtmParametersInput"];
            /** @example Spring sale */
            title?: string | null;
            /** @example Everything for the garden */
            description?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png
             */
            imageUrl?: string | null;
            /**
             * @description HTTPS. Omitted on creation: the app's default.
             * @example https://shop.example.com/spring
             */
            desktopUrl?: string | null;
            /**
             * @description HTTPS. Omitted on creation: the app's default.
             * @example https://play.google.com/store/apps/details?id=com.example.shop
             */
            playStoreUrl?: string | null;
            /**
             * @description HTTPS. Omitted on creation: the app's default.
             * @example https://apps.apple.com/app/id1234567890
             */
            appStoreUrl?: string | null;
            /**
             * @description Relative path, read by the app: no scheme, no leading or double slash, no .. segment.
             * @example products/42
             */
            appPath?: string | null;
            /** @description At most 16 KiB, counted in UTF-8 without white space and needless escapes, and 5 levels deep. */
            parameters?: {
                [key: string]: unknown;
            };
            webOnly?: boolean;
            /**
             * @description Default manual.
             * @enum {string}
             */
            behavior?: "manual" | "automatic" | "intelligent";
            /**
             * @description Default operational.
             * @enum {string}
             */
            group?: "main" | "operational";
            templateData?: {
                [key: string]: unknown;
            };
            templateSelection?: components["schemas"]["TemplateSelectionsInput"];
        };
        LinkPreview: {
            /**
             * @example desktop
             * @enum {string}
             */
            platform: "android" | "ios" | "desktop";
            /** @enum {string} */
            source: "browser" | "social";
            /** @enum {string} */
            mode: "redirect" | "page" | "unavailable";
            /** @description What opens the app; null when it is not tried. */
            nativeUri: string | null;
            /** @description Where the visitor goes when the app does not open. */
            fallback: string | null;
            /** @enum {string} */
            opening: "none" | "manual" | "automatic";
            /**
             * @description Where a redirect leads: for an expired link its expiredUrl.
             * @example https://shop.example.com/spring
             */
            destinationUrl: string | null;
            matchedRuleId: string | null;
            /** @description Of a page; null otherwise. */
            template: components["schemas"]["TemplateSelection"] | null;
            /** @description Whether visitors get it already. Not part of the revision. */
            publication: components["schemas"]["PublicationState"];
            /** @description Always false. */
            sideEffects: boolean;
        };
        LinkPreviewRequest: {
            /** @enum {string} */
            platform: "android" | "ios" | "desktop";
            /** @enum {string} */
            source: "browser" | "social";
            /** @description ISO 3166-1 alpha-2; omitted: unknown. */
            country?: string;
            /**
             * Format: date-time
             * @description Omitted: now.
             */
            at?: string;
        };
        LinkPreviewResponse: {
            data: components["schemas"]["LinkPreview"];
            meta: components["schemas"]["ResponseMeta"];
        };
        LinkResponse: {
            data: components["schemas"]["Link"];
            meta: components["schemas"]["ResponseMeta"];
        };
        LinkResyncRequest: Record<string, never>;
        LinkRoutingRules: {
            /**
             * @description Opaque; percent-encode it in paths.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uuid
             * @description The link's.
             */
            revision: string;
            rules: components["schemas"]["RoutingRule"][];
        };
        LinkRoutingRulesInput: {
            rules: components["schemas"]["RoutingRuleInput"][];
        };
        LinkRoutingRulesResponse: {
            data: components["schemas"]["LinkRoutingRules"];
            meta: components["schemas"]["ResponseMeta"];
        };
        LinkTags: {
            /**
             * @description Opaque; percent-encode it in paths.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uuid
             * @description The link's.
             */
            revision: string;
            /**
             * @example [
             *       "0198c9a1-d26b-7f70-9386-a25e9fc04b67"
             *     ]
             */
            tagIds: string[];
        };
        LinkTagsInput: {
            /**
             * @description Tags of the same app.
             * @example [
             *       "0198c9a1-d26b-7f70-9386-a25e9fc04b67"
             *     ]
             */
            tagIds: string[];
        };
        LinkTagsResponse: {
            data: components["schemas"]["LinkTags"];
            meta: components["schemas"]["ResponseMeta"];
        };
        LinkTemplateSelection: {
            /**
             * @description Opaque; percent-encode it in paths.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uuid
             * @description The link's.
             */
            revision: string;
            /** @description Null and inherit take the choice of the domain, then of the app, or else the official template. */
            selection: components["schemas"]["TemplateSelections"];
            /** @description Of each choice; null until it is first set. */
            bindingRevisions: components["schemas"]["TemplateBindingRevisions"];
            /** @description What link, domain and app come to. Not part of the revision. */
            effective: components["schemas"]["EffectiveTemplates"];
        };
        LinkTemplateSelectionInput: {
            /** @description What is omitted is taken back. */
            selection: components["schemas"]["TemplateSelectionsInput"];
        };
        LinkTemplateSelectionResponse: {
            data: components["schemas"]["LinkTemplateSelection"];
            meta: components["schemas"]["ResponseMeta"];
        };
        LinkValidateRequest: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @description A domain of the app that is ready for links.
             * @example go.example.com
             */
            domain: string;
            /** @example sale */
            prefix?: string;
            /** @example spring */
            slug: string;
            /** @example 0198c9a1-5e13-7d59-9164-803c7dae2f45 */
            folderId?: string | null;
            /** @example 0198c9a1-9a47-7e62-8275-914d8ebf3a56 */
            campaignId?: string | null;
            lifecycle?: {
                archived?: boolean;
                startsAt?: string | null;
                expiresAt?: string | null;
                maxClicks?: number | null;
                /** @example https://shop.example.com/spring */
                expiredUrl?: string | null;
            };
            utm?: {
                /** @example newsletter */
                source?: string | null;
                /** @example newsletter */
                medium?: string | null;
                /** @example newsletter */
                campaign?: string | null;
                /** @example newsletter */
                term?: string | null;
                /** @example newsletter */
                content?: string | null;
            };
            /** @example Spring sale */
            title?: string | null;
            /** @example Everything for the garden */
            description?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png
             */
            imageUrl?: string | null;
            /**
             * @description HTTPS. Omitted on creation: the app's default.
             * @example https://shop.example.com/spring
             */
            desktopUrl?: string | null;
            /**
             * @description HTTPS. Omitted on creation: the app's default.
             * @example https://play.google.com/store/apps/details?id=com.example.shop
             */
            playStoreUrl?: string | null;
            /**
             * @description HTTPS. Omitted on creation: the app's default.
             * @example https://apps.apple.com/app/id1234567890
             */
            appStoreUrl?: string | null;
            /**
             * @description Relative path, read by the app: no scheme, no leading or double slash, no .. segment.
             * @example products/42
             */
            appPath?: string | null;
            /** @description At most 16 KiB, counted in UTF-8 without white space and needless escapes, and 5 levels deep. */
            parameters?: {
                [key: string]: unknown;
            };
            webOnly?: boolean;
            /** @description Default manual. */
            behavior?: string;
            /** @description Default operational. */
            group?: string;
            templateData?: {
                [key: string]: unknown;
            };
            templateSelection?: {
                android?: {
                    mode: string;
                    /**
                     * @description For the mode custom.
                     * @example 0198c9a4-47fc-7809-8c1f-3be72859d4f0
                     */
                    templateId?: string | null;
                    /** @description For the mode custom. */
                    version?: number | null;
                } | null;
                ios?: {
                    mode: string;
                    /**
                     * @description For the mode custom.
                     * @example 0198c9a4-47fc-7809-8c1f-3be72859d4f0
                     */
                    templateId?: string | null;
                    /** @description For the mode custom. */
                    version?: number | null;
                } | null;
                recovery?: {
                    mode: string;
                    /**
                     * @description For the mode custom.
                     * @example 0198c9a4-47fc-7809-8c1f-3be72859d4f0
                     */
                    templateId?: string | null;
                    /** @description For the mode custom. */
                    version?: number | null;
                } | null;
            };
        };
        LinkValidation: {
            /**
             * @description Nothing is wrong with the data.
             * @example true
             */
            valid: boolean;
            /**
             * @description The address can be a link's and is free.
             * @example true
             */
            available: boolean;
            /**
             * @description The public address; null when it cannot be one.
             * @example https://go.example.com/sale/spring
             */
            url: string | null;
            /** @example [] */
            issues: components["schemas"]["ErrorDetail"][];
        };
        LinkValidationResponse: {
            data: components["schemas"]["LinkValidation"];
            meta: components["schemas"]["ResponseMeta"];
        };
        Operation: {
            /**
             * Format: uuid
             * @example 0198c9a4-0fc8-77f8-9b0e-2ad61748c3ef
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @enum {string} */
            type: "domain.create" | "domain.verify" | "domain.detach" | "link.resync" | "batch" | "import" | "export" | "template.publish" | "template.restore" | "asset.delete" | "foundation.noop";
            /** @enum {string} */
            status: "queued" | "running" | "succeeded" | "partially_succeeded" | "failed" | "cancel_requested" | "cancelled";
            /**
             * Format: date-time
             * @example 2026-11-20T12:00:00.000Z
             */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            result: components["schemas"]["OperationResult"] | null;
            error: components["schemas"]["OperationError"] | null;
        };
        OperationCancelRequest: Record<string, never>;
        OperationError: {
            /** @example items_failed */
            code: string;
            /**
             * @description For a person.
             * @example No item succeeded. The error of each item says why.
             */
            message: string;
        };
        OperationResource: {
            /** @example domain */
            type: string;
            /** @example 0198c9a1-0b8f-7c4d-8053-7f2b6c9d1e34 */
            id: string;
        };
        OperationResponse: {
            data: components["schemas"]["Operation"];
            meta: components["schemas"]["ResponseMeta"];
        };
        OperationResult: {
            resource: components["schemas"]["OperationResource"];
            succeeded?: number;
            failed?: number;
            /** @description How many items of an import were not tried because their data is invalid. With any of them the operation is at most partially_succeeded. */
            invalid?: number;
        };
        Pagination: {
            hasMore: boolean;
            /** @description The cursor of the next page, kept for 15 minutes; null on the last. */
            nextCursor: string | null;
        };
        PermittedOperation: {
            /**
             * @description The name of an operation of this contract.
             * @example createLinks
             */
            operation: string;
            /** @example POST */
            method: string;
            /** @example /links */
            path: string;
            /** @example links:create */
            permission: string;
            humanOnly: boolean;
        };
        Preferences: {
            /**
             * @description Null, under a new revision, once the app was deleted.
             * @example app_01k6fq4w8m3x7c9v2n5b1t0rzy
             */
            selectedAppId: string | null;
            /** @enum {string} */
            theme: "system" | "light" | "dark";
            /**
             * @description The IANA time zone that the dashboard shows and takes times in; null where it follows the browser.
             * @example Europe/Berlin
             */
            timezone: string | null;
            /**
             * @description The BCP 47 tag by which the dashboard writes dates and numbers; null where it follows the browser.
             * @example en-GB
             */
            locale: string | null;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
        };
        PreferencesPatch: {
            /**
             * @description An app of the caller.
             * @example app_01k6fq4w8m3x7c9v2n5b1t0rzy
             */
            selectedAppId?: string | null;
            /**
             * @example dark
             * @enum {string}
             */
            theme?: "system" | "light" | "dark";
            /**
             * @description An IANA time zone; null follows the browser.
             * @example Europe/Berlin
             */
            timezone?: string | null;
            /**
             * @description A BCP 47 language tag; null follows the browser.
             * @example en-GB
             */
            locale?: string | null;
        };
        PreferencesResponse: {
            data: components["schemas"]["Preferences"];
            meta: components["schemas"]["ResponseMeta"];
        };
        Principal: {
            /** @enum {string} */
            actorType: "human" | "api_key";
            /**
             * Format: uuid
             * @example 0198c9a0-1c57-7a20-8e31-5d0f4a7b9c12
             */
            userId: string;
        };
        Profile: {
            /**
             * Format: uuid
             * @example 0198c9a0-1c57-7a20-8e31-5d0f4a7b9c12
             */
            userId: string;
            /**
             * @description At first the name that the identity provider tells, else the e-mail address.
             * @example Ada Lovelace
             */
            displayName: string | null;
            /** @example https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png */
            photoUrl: string | null;
            /** @enum {string} */
            actorType: "human" | "api_key";
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /**
             * @description As the identity provider or the operator told it; absent when nobody did, and for API keys.
             * @example ada@example.com
             */
            email?: string;
        };
        ProfilePatch: {
            /** @example Ada King */
            displayName?: string;
            /**
             * @description HTTPS, without user or password.
             * @example https://images.example.com/0f6b1c2d3e4f5a6b7c8d9e0f1a2b3c4d.png
             */
            photoUrl?: string | null;
        };
        ProfileResponse: {
            data: components["schemas"]["Profile"];
            meta: components["schemas"]["ResponseMeta"];
        };
        PublicationDetail: {
            /**
             * @example synced
             * @enum {string}
             */
            status: "pending" | "synced" | "failed";
            /** Format: uuid */
            desiredRevision: string;
            /**
             * @description The revision that the redirector holds; null until it confirmed one.
             * @example f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90
             */
            confirmedRevision: string | null;
            /** Format: date-time */
            updatedAt: string;
            /** @description Failed attempts since the last change. */
            attempts: number;
            lastError: components["schemas"]["PublicationError"] | null;
        };
        PublicationDetailResponse: {
            data: components["schemas"]["PublicationDetail"];
            meta: components["schemas"]["ResponseMeta"];
        };
        PublicationError: {
            /** @example store_unavailable */
            code: string;
            /**
             * @description For a person.
             * @example The redirector's store could not be written.
             */
            message: string;
            /** Format: date-time */
            at: string;
        };
        PublicationState: {
            /**
             * @example synced
             * @enum {string}
             */
            status: "pending" | "synced" | "failed";
            /** Format: uuid */
            desiredRevision: string;
            /**
             * @description The revision the redirector resolves; null until the first is confirmed.
             * @example f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90
             */
            confirmedRevision: string | null;
            /** Format: date-time */
            updatedAt: string;
        };
        QrCode: {
            /**
             * Format: uuid
             * @example 0198c9a2-c384-72a3-86b9-d581c2f37e9a
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @description Opaque; percent-encode it in paths.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string;
            /** @example Poster of the spring sale */
            name: string;
            /** @enum {string} */
            format: "png" | "svg";
            /**
             * @description Width and height in pixels.
             * @example 512
             */
            size: number;
            /**
             * @description Quiet zone in modules.
             * @example 4
             */
            margin: number;
            /** @example #1a2b3c */
            foreground: string;
            /**
             * @description #RRGGBB or transparent.
             * @example #ffffff
             */
            background: string;
            /**
             * @example Q
             * @enum {string}
             */
            errorCorrection: "L" | "M" | "Q" | "H";
            /** @example 0198c9a2-0a9c-7081-8497-b36fa0d15c78 */
            logoAssetId: string | null;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        QrCodeCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @description A link of the same app.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string;
            /** @example Poster of the spring sale */
            name: string;
            /**
             * @description Default png.
             * @enum {string}
             */
            format?: "png" | "svg";
            /** @description Width and height in pixels; default 512. */
            size?: number;
            /** @description Quiet zone in modules; default 4. */
            margin?: number;
            /** @description Default #000000. */
            foreground?: string;
            /** @description Default #ffffff. The contrast must be at least 3:1; transparent counts as white. */
            background?: string;
            /**
             * @description Default M; with a logo at least Q.
             * @enum {string}
             */
            errorCorrection?: "L" | "M" | "Q" | "H";
            /**
             * @description An active image of the same app, of at most 1024 by 1024 pixels.
             * @example 0198c9a2-0a9c-7081-8497-b36fa0d15c78
             */
            logoAssetId?: string | null;
        };
        QrCodeListResponse: {
            data: components["schemas"]["QrCode"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        QrCodePatch: {
            /** @example Flyer of the spring sale */
            name?: string;
            /**
             * @description Default png.
             * @enum {string}
             */
            format?: "png" | "svg";
            /** @description Width and height in pixels; default 512. */
            size?: number;
            /** @description Quiet zone in modules; default 4. */
            margin?: number;
            /** @description Default #000000. */
            foreground?: string;
            /** @description Default #ffffff. The contrast must be at least 3:1; transparent counts as white. */
            background?: string;
            /**
             * @description Default M; with a logo at least Q.
             * @enum {string}
             */
            errorCorrection?: "L" | "M" | "Q" | "H";
            /** @example 0198c9a2-0a9c-7081-8497-b36fa0d15c78 */
            logoAssetId?: string | null;
        };
        QrCodeResponse: {
            data: components["schemas"]["QrCode"];
            meta: components["schemas"]["ResponseMeta"];
        };
        RateLimit: {
            /** @example 600 */
            limit: number;
            /** @example 60 */
            windowSeconds: number;
        };
        RateLimitUsage: {
            /** @example 12 */
            used: number;
            /**
             * Format: date-time
             * @example 2026-11-20T12:01:00.000Z
             */
            resetAt: string;
        };
        RequestRecord: {
            /** @example req_3f2a9c0d5b7e4816a2c4e6f80b1d3f57 */
            id: string;
            /**
             * @description The name of an operation of this contract.
             * @example createLinks
             */
            operation: string;
            /** @example POST */
            method: string;
            /** @example /v1/links */
            route: string;
            /** @example 201 */
            status: number;
            /** @example 4 */
            durationMs: number;
            errorCode: string | null;
            actor: components["schemas"]["AuditActor"];
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        RequestRecordListResponse: {
            data: components["schemas"]["RequestRecord"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        ResponseMeta: {
            /** @example req_3f2a9c0d5b7e4816a2c4e6f80b1d3f57 */
            requestId: string;
        };
        RotatedWebhookSecret: {
            webhook: components["schemas"]["Webhook"];
            /**
             * @description Signs every delivery; keep it at the receiver.
             * @example whsec_9dTf4Kb1Zs6Vn3Hy8Lc5Wp0Ga7Qm2xR5gH2jK7lZ8cV
             */
            secret: string;
            /**
             * Format: date-time
             * @description Until then each delivery is signed with both.
             * @example 2026-11-21T12:00:00.000Z
             */
            previousSecretExpiresAt: string | null;
        };
        RotatedWebhookSecretResponse: {
            data: components["schemas"]["RotatedWebhookSecret"];
            meta: components["schemas"]["ResponseMeta"];
        };
        RoutingRule: {
            /** @example 0198c9a2-8b50-7192-95a8-c470b1e26d89 */
            id: string;
            /**
             * @description android, ios or desktop.
             * @example ios
             */
            platform: string | null;
            /**
             * @description ISO 3166-1 alpha-2.
             * @example DE
             */
            country: string | null;
            /**
             * Format: date-time
             * @description Inclusive.
             */
            startsAt: string | null;
            /**
             * Format: date-time
             * @description Exclusive.
             */
            expiresAt: string | null;
            /** @example https://shop.example.com/de/spring */
            destinationUrl: string;
            /** @description Come before the link's and the campaign's. */
            utm: components["schemas"]["UtmParameters"];
        };
        RoutingRuleInput: {
            /**
             * Format: uuid
             * @description Of a rule that the link has: the rule keeps it. Omitted: a new one.
             */
            id?: string;
            /** @enum {string|null} */
            platform?: "android" | "ios" | "desktop" | null;
            /** @description ISO 3166-1 alpha-2. */
            country?: string | null;
            /** Format: date-time */
            startsAt?: string | null;
            /** Format: date-time */
            expiresAt?: string | null;
            /**
             * @description HTTPS, without user or password.
             * @example https://shop.example.com/spring
             */
            destinationUrl: string;
            utm?: components["schemas"]["UtmParametersInput"];
        };
        SharedLimits: {
            account: components["schemas"]["CallLimits"];
            app: components["schemas"]["AppLimits"];
        };
        SharedUsage: {
            account: components["schemas"]["CallUsage"];
            app: components["schemas"]["AppUsage"];
        };
        Tag: {
            /**
             * Format: uuid
             * @example 0198c9a1-d26b-7f70-9386-a25e9fc04b67
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @description Unique in the app, ignoring case.
             * @example Garden
             */
            name: string;
            /** @example Plants, soil and tools */
            description: string | null;
            archived: boolean;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:00:00.000Z
             */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @enum {string} */
            kind: "tag";
            /** @description For the owner's own use: destinations get those of links and campaigns. */
            utm: components["schemas"]["UtmParameters"];
        };
        TagCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @example Garden */
            name: string;
            /** @example Everything for the garden */
            description?: string | null;
            archived?: boolean;
            utm?: components["schemas"]["UtmParametersInput"];
        };
        TagListResponse: {
            data: components["schemas"]["Tag"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        TagPatch: {
            /** @example Garden and balcony */
            name?: string;
            /** @example Everything for the garden */
            description?: string | null;
            archived?: boolean;
            utm?: components["schemas"]["UtmParametersInput"];
        };
        TagResponse: {
            data: components["schemas"]["Tag"];
            meta: components["schemas"]["ResponseMeta"];
        };
        Template: {
            /**
             * Format: uuid
             * @example 0198c9a4-c1e5-7a2b-8e31-5d0a4a7bf612
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @example Spring sale on Android */
            name: string;
            /**
             * @description Which page the template is for.
             * @enum {string}
             */
            baseTemplateId: "android" | "ios" | "recovery";
            /** @description An archived template cannot be newly chosen or published. What chose it before keeps it. */
            archived: boolean;
            /**
             * Format: uuid
             * @description The template's, new with each saved draft. The draft has its own.
             */
            revision: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:00:00.000Z
             */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        TemplateAppearance: {
            light?: components["schemas"]["TemplatePalette"];
            dark?: components["schemas"]["TemplatePalette"];
            /** @enum {string} */
            fontFamily?: "system" | "sans" | "serif";
            /** @enum {string} */
            radius?: "small" | "medium" | "large";
            /** @enum {string} */
            spacing?: "compact" | "comfortable";
            /**
             * @description An image of the app. Omitted: the app's logo.
             * @example 0198c9a2-0a9c-7081-8497-b36fa0d15c78
             */
            logoAssetId?: string;
        };
        TemplateAppearanceInput: {
            light?: components["schemas"]["TemplatePaletteInput"];
            dark?: components["schemas"]["TemplatePaletteInput"];
            /** @enum {string} */
            fontFamily?: "system" | "sans" | "serif";
            /** @enum {string} */
            radius?: "small" | "medium" | "large";
            /** @enum {string} */
            spacing?: "compact" | "comfortable";
            /**
             * @description An image of the app. Omitted: the app's logo.
             * @example 0198c9a2-0a9c-7081-8497-b36fa0d15c78
             */
            logoAssetId?: string;
        };
        TemplateAvailability: {
            /**
             * Format: uuid
             * @example 0198c9a4-c1e5-7a2b-8e31-5d0a4a7bf612
             */
            templateId: string;
            /**
             * @description null before the first.
             * @example 1
             */
            latestVersion: number | null;
            /** @description Newest first. */
            versions: components["schemas"]["TemplateVersionAvailability"][];
            inUse: components["schemas"]["TemplateInUse"];
        };
        TemplateAvailabilityResponse: {
            data: components["schemas"]["TemplateAvailability"];
            meta: components["schemas"]["ResponseMeta"];
        };
        TemplateBindingRevisions: {
            /** Format: uuid */
            android: string | null;
            /** Format: uuid */
            ios: string | null;
            /** Format: uuid */
            recovery: string | null;
        };
        TemplateCatalogItem: {
            /** @enum {string} */
            baseTemplateId: "android" | "ios" | "recovery";
            /** @example Android */
            name: string;
            /** @example Opens the app on Android, or leads to the Play Store. */
            description: string;
            /** @enum {integer} */
            rendererContractVersion: 1;
            limits: components["schemas"]["TemplateLimits"];
        };
        TemplateCatalogItemListResponse: {
            data: components["schemas"]["TemplateCatalogItem"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        TemplateCatalogSchema: {
            /** @enum {string} */
            baseTemplateId: "android" | "ios" | "recovery";
            limits: components["schemas"]["TemplateLimits"];
            /**
             * @description JSON Schema 2020-12 of config, complete in itself.
             * @example {
             *       "type": "object"
             *     }
             */
            schema: {
                [key: string]: unknown;
            };
            /** @description A configuration to begin with. It can become a version as it is. */
            example: components["schemas"]["TemplateConfig"];
        };
        TemplateCatalogSchemaResponse: {
            data: components["schemas"]["TemplateCatalogSchema"];
            meta: components["schemas"]["ResponseMeta"];
        };
        TemplateChoice: {
            /**
             * Format: uuid
             * @example 0198c9a4-c1e5-7a2b-8e31-5d0a4a7bf612
             */
            templateId: string;
            version: number;
            /** @enum {string} */
            baseTemplateId: "android" | "ios" | "recovery";
            /**
             * @description The template's.
             * @example Spring sale on Android
             */
            name: string;
            /**
             * @description What the templateData of a link may hold.
             * @example [
             *       {
             *         "defaultValue": "our offers",
             *         "key": "offer",
             *         "label": "Offer",
             *         "maxLength": 60,
             *         "required": false
             *       }
             *     ]
             */
            variables: components["schemas"]["TemplateVariable"][];
        };
        TemplateChoiceListResponse: {
            data: components["schemas"]["TemplateChoice"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        TemplateConfig: {
            /** @enum {integer} */
            schemaVersion?: 1;
            /** @enum {string} */
            kind?: "preset";
            /**
             * @description The template's own.
             * @enum {string}
             */
            baseTemplateId?: "android" | "ios" | "recovery";
            /** @enum {integer} */
            rendererContractVersion?: 1;
            appearance?: components["schemas"]["TemplateAppearance"];
            content?: components["schemas"]["TemplateContent"];
            /**
             * @description What links fill in: {{key}} in the texts of content shows the value.
             * @example [
             *       {
             *         "defaultValue": "our offers",
             *         "key": "offer",
             *         "label": "Offer",
             *         "maxLength": 60,
             *         "required": false
             *       }
             *     ]
             */
            variables?: components["schemas"]["TemplateVariable"][];
        };
        TemplateConfigInput: {
            /** @enum {integer} */
            schemaVersion?: 1;
            /** @enum {string} */
            kind?: "preset";
            /**
             * @description The template's own.
             * @enum {string}
             */
            baseTemplateId?: "android" | "ios" | "recovery";
            /** @enum {integer} */
            rendererContractVersion?: 1;
            appearance?: components["schemas"]["TemplateAppearanceInput"];
            content?: components["schemas"]["TemplateContentInput"];
            /**
             * @description What links fill in: {{key}} in the texts of content shows the value.
             * @example [
             *       {
             *         "defaultValue": "our offers",
             *         "key": "offer",
             *         "label": "Offer",
             *         "maxLength": 60,
             *         "required": false
             *       }
             *     ]
             */
            variables?: components["schemas"]["TemplateVariableInput"][];
        };
        TemplateContent: {
            /**
             * @description Omitted: the link's title, else words of the product.
             * @example See {{offer}} in our app
             */
            heading?: string;
            /**
             * @description Omitted: the link's description.
             * @example It opens where the link leads.
             */
            supportingText?: string;
            /**
             * @description By action: open, install, web, copy. Omitted: words of the product in the visitor's language. Labels of other names are kept and not shown.
             * @example {
             *       "install": "Get it on Google Play",
             *       "open": "Open the app"
             *     }
             */
            actionLabels?: {
                [key: string]: string;
            };
            details?: components["schemas"]["TemplateDetail"][];
        };
        TemplateContentInput: {
            /**
             * @description Omitted: the link's title, else words of the product.
             * @example See {{offer}} in our app
             */
            heading?: string;
            /**
             * @description Omitted: the link's description.
             * @example It opens where the link leads.
             */
            supportingText?: string;
            /**
             * @description By action: open, install, web, copy. Omitted: words of the product in the visitor's language. Labels of other names are kept and not shown.
             * @example {
             *       "install": "Get it on Google Play",
             *       "open": "Open the app"
             *     }
             */
            actionLabels?: {
                [key: string]: string;
            };
            details?: components["schemas"]["TemplateDetailInput"][];
        };
        TemplateCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @example Spring sale on Android */
            name: string;
            /** @enum {string} */
            baseTemplateId: "android" | "ios" | "recovery";
            /** @description The first draft. Omitted: as the official template. */
            config?: components["schemas"]["TemplateConfigInput"];
        };
        TemplateDefaults: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @description Null for the defaults of an app. */
            domainId: string | null;
            /**
             * Format: uuid
             * @description The app's or the domain's.
             */
            revision: string;
            /** @description Null and inherit take the choice of the app, or else the official template. */
            defaults: components["schemas"]["TemplateSelections"];
            /** @description Of each choice; null until it is first set. */
            bindingRevisions: components["schemas"]["TemplateBindingRevisions"];
        };
        TemplateDefaultsInput: {
            /** @description What is omitted is taken back. */
            defaults: components["schemas"]["TemplateSelectionsInput"];
        };
        TemplateDefaultsResponse: {
            data: components["schemas"]["TemplateDefaults"];
            meta: components["schemas"]["ResponseMeta"];
        };
        TemplateDetail: {
            /** @example Offer */
            label: string;
            /** @example {{offer}} */
            value: string;
        };
        TemplateDetailInput: {
            /** @example Offer */
            label: string;
            /** @example {{offer}} */
            value: string;
        };
        TemplateDraft: {
            /**
             * Format: uuid
             * @example 0198c9a4-c1e5-7a2b-8e31-5d0a4a7bf612
             */
            templateId: string;
            config: components["schemas"]["TemplateConfig"];
            /**
             * Format: uuid
             * @description The draft's own.
             */
            revision: string;
            /**
             * @description The newest version: the draft was equal to it when it was made. null before the first. Not part of the revision.
             * @example 1
             */
            baseVersion: number | null;
            /**
             * Format: date-time
             * @description When the design was last saved.
             */
            updatedAt: string;
        };
        TemplateDraftInput: {
            /** @description The whole design: what is left out is as in the official template. */
            config: components["schemas"]["TemplateConfigInput"];
        };
        TemplateDraftResponse: {
            data: components["schemas"]["TemplateDraft"];
            meta: components["schemas"]["ResponseMeta"];
        };
        TemplateDuplicateRequest: {
            /** @example Summer sale on Android */
            name: string;
            /**
             * @description The version whose design is copied. Omitted: the draft.
             * @example 1
             */
            sourceVersion?: number;
            /**
             * Format: uuid
             * @description The revision that the draft must still have. Not together with sourceVersion.
             */
            draftRevision?: string;
        };
        TemplateInUse: {
            /** @description 1 when the app's defaults choose it. */
            app: number;
            domains: number;
            /** @example 12 */
            links: number;
        };
        TemplateLimits: {
            /** @example 12288 */
            configBytes: number;
            /** @example 8192 */
            dataBytes: number;
            /** @example 20 */
            variables: number;
            /** @example 4 */
            details: number;
        };
        TemplateListResponse: {
            data: components["schemas"]["Template"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        TemplatePalette: {
            /** @example #f6f7f9 */
            background?: string;
            /** @example #ffffff */
            surface?: string;
            /** @example #e3e7ec */
            border?: string;
            /** @example #1b2430 */
            text?: string;
            /** @example #5b6675 */
            muted?: string;
            /** @example #2f6f5e */
            accent?: string;
            /** @example #e9eff4 */
            secondary?: string;
            /** @example #2f6f5e */
            tertiary?: string;
        };
        TemplatePaletteInput: {
            /** @example #f6f7f9 */
            background?: string;
            /** @example #ffffff */
            surface?: string;
            /** @example #e3e7ec */
            border?: string;
            /** @example #1b2430 */
            text?: string;
            /** @example #5b6675 */
            muted?: string;
            /** @example #2f6f5e */
            accent?: string;
            /** @example #e9eff4 */
            secondary?: string;
            /** @example #2f6f5e */
            tertiary?: string;
        };
        TemplatePatch: {
            /** @example Spring sale on Android phones */
            name?: string;
            archived?: boolean;
        };
        TemplatePreview: {
            /**
             * @description The whole page. It loads nothing.
             * @example <!doctype html>
             *     <html lang=en>…</html>
             */
            html: string;
            /**
             * @description The scheme that was forced; null: the visitor's device chooses.
             * @enum {string|null}
             */
            colorScheme: "light" | "dark" | null;
            /**
             * @description Of html in UTF-8.
             * @example 6204
             */
            bytes: number;
            /** @description Always false. */
            sideEffects: boolean;
        };
        TemplatePreviewRequest: {
            /** @description Omitted: the draft. */
            config?: components["schemas"]["TemplateConfigInput"];
            /**
             * @description The templateData of a link. Omitted: defaults alone.
             * @example {
             *       "offer": "20% off"
             *     }
             */
            data?: {
                [key: string]: unknown;
            };
            /**
             * @description Forces a scheme. Omitted: the visitor's device chooses, as with the redirector.
             * @enum {string|null}
             */
            colorScheme?: "light" | "dark" | null;
            /**
             * @description Whose visitor sees the page. Omitted: that of the base template.
             * @enum {string}
             */
            platform?: "android" | "ios" | "desktop";
        };
        TemplatePreviewResponse: {
            data: components["schemas"]["TemplatePreview"];
            meta: components["schemas"]["ResponseMeta"];
        };
        TemplatePublication: {
            /**
             * Format: uuid
             * @example 0198c9a4-fb19-7b3c-9f42-6e1a5b8c0723
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /** @enum {string} */
            action: "publish" | "restore";
            /** @enum {string} */
            baseTemplateId: "android" | "ios" | "recovery";
            /** @description What the targets are to choose. */
            choice: components["schemas"]["TemplateSelection"];
            /**
             * @example confirmed
             * @enum {string}
             */
            state: "queued" | "applying" | "confirmed" | "partial" | "conflict" | "superseded" | "denied";
            /**
             * @description How far the work is, or was when it ended.
             * @example projection
             * @enum {string}
             */
            phase: "version" | "activation" | "projection";
            /** @description Why not all targets were applied. */
            error: string | null;
            /**
             * @description Whether the redirector has the version; null without one. Not part of the revision.
             * @enum {string|null}
             */
            versionAvailability: "available" | "prepared" | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            targets: components["schemas"]["TemplatePublicationTarget"][];
        };
        TemplatePublicationListResponse: {
            data: components["schemas"]["TemplatePublication"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        TemplatePublicationResponse: {
            data: components["schemas"]["TemplatePublication"];
            meta: components["schemas"]["ResponseMeta"];
        };
        TemplatePublicationRetryRequest: Record<string, never>;
        TemplatePublicationTarget: {
            /**
             * @example link
             * @enum {string}
             */
            scope: "app" | "domain" | "link";
            /** @description Of the scope domain. */
            domainId: string | null;
            /**
             * @description Of the scope link.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId: string | null;
            /**
             * @example applied
             * @enum {string}
             */
            state: "pending" | "applied" | "conflict" | "superseded" | "denied";
            /** @description Why it was not applied, or does not reach visitors. */
            error: string | null;
            /**
             * Format: uuid
             * @description The revision that the binding got.
             */
            appliedRevision: string | null;
        };
        TemplatePublicationTargetInput: {
            /** @enum {string} */
            scope: "app" | "domain" | "link";
            /**
             * @description For the scope domain.
             * @example 0198c9a1-0b8f-7c4d-8053-7f2b6c9d1e34
             */
            domainId?: string | null;
            /**
             * @description For the scope link.
             * @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d
             */
            linkId?: string | null;
            /**
             * Format: uuid
             * @description The revision of the target's binding that was read last (bindingRevisions); null when there was none. If it changed since, the target is not applied.
             */
            expectedRevision: string | null;
            /**
             * Format: uuid
             * @description For the scope link: the revision that the link must still have.
             */
            expectedLinkRevision?: string | null;
        };
        TemplatePublishRequest: {
            /** @description Omitted: the draft as it is, of which a version is made unless the newest one is the same. */
            version?: number;
            /**
             * @description Of the template's app, each once.
             * @example [
             *       {
             *         "expectedRevision": "f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90",
             *         "linkId": "go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d",
             *         "scope": "link"
             *       }
             *     ]
             */
            targets: components["schemas"]["TemplatePublicationTargetInput"][];
        };
        TemplateRestoreRequest: {
            /**
             * @description The version to choose. Either this or mode.
             * @example 1
             */
            version?: number;
            /**
             * @description What to choose instead of a version.
             * @enum {string}
             */
            mode?: "official" | "inherit";
            /**
             * @description Of the template's app, each once.
             * @example [
             *       {
             *         "expectedRevision": "f3b1c6de-8a5e-4f0b-9c8d-6a2e1b7f4c90",
             *         "linkId": "go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d",
             *         "scope": "link"
             *       }
             *     ]
             */
            targets: components["schemas"]["TemplatePublicationTargetInput"][];
        };
        TemplateSelection: {
            /**
             * @example custom
             * @enum {string}
             */
            mode: "inherit" | "official" | "custom";
            /** @example 0198c9a4-c1e5-7a2b-8e31-5d0a4a7bf612 */
            templateId: string | null;
            /** @example 1 */
            version: number | null;
        };
        TemplateSelectionInput: {
            /** @enum {string} */
            mode: "inherit" | "official" | "custom";
            /**
             * @description For the mode custom.
             * @example 0198c9a4-47fc-7809-8c1f-3be72859d4f0
             */
            templateId?: string | null;
            /** @description For the mode custom. */
            version?: number | null;
        };
        TemplateSelections: {
            android: components["schemas"]["TemplateSelection"] | null;
            ios: components["schemas"]["TemplateSelection"] | null;
            recovery: components["schemas"]["TemplateSelection"] | null;
        };
        TemplateSelectionsInput: {
            android?: components["schemas"]["TemplateSelectionInput"] | null;
            ios?: components["schemas"]["TemplateSelectionInput"] | null;
            recovery?: components["schemas"]["TemplateSelectionInput"] | null;
        };
        TemplateValidateRequest: {
            /** @description Omitted: the draft. */
            config?: {
                schemaVersion?: number;
                kind?: string;
                /** @description The template's own. */
                baseTemplateId?: string;
                rendererContractVersion?: number;
                appearance?: {
                    light?: {
                        /** @example #f6f7f9 */
                        background?: string;
                        /** @example #ffffff */
                        surface?: string;
                        /** @example #e3e7ec */
                        border?: string;
                        /** @example #1b2430 */
                        text?: string;
                        /** @example #5b6675 */
                        muted?: string;
                        /** @example #2f6f5e */
                        accent?: string;
                        /** @example #e9eff4 */
                        secondary?: string;
                        /** @example #2f6f5e */
                        tertiary?: string;
                    };
                    dark?: {
                        /** @example #f6f7f9 */
                        background?: string;
                        /** @example #ffffff */
                        surface?: string;
                        /** @example #e3e7ec */
                        border?: string;
                        /** @example #1b2430 */
                        text?: string;
                        /** @example #5b6675 */
                        muted?: string;
                        /** @example #2f6f5e */
                        accent?: string;
                        /** @example #e9eff4 */
                        secondary?: string;
                        /** @example #2f6f5e */
                        tertiary?: string;
                    };
                    fontFamily?: string;
                    radius?: string;
                    spacing?: string;
                    /**
                     * @description An image of the app. Omitted: the app's logo.
                     * @example 0198c9a2-0a9c-7081-8497-b36fa0d15c78
                     */
                    logoAssetId?: string;
                };
                content?: {
                    /**
                     * @description Omitted: the link's title, else words of the product.
                     * @example See {{offer}} in our app
                     */
                    heading?: string;
                    /**
                     * @description Omitted: the link's description.
                     * @example It opens where the link leads.
                     */
                    supportingText?: string;
                    /**
                     * @description By action: open, install, web, copy. Omitted: words of the product in the visitor's language. Labels of other names are kept and not shown.
                     * @example {
                     *       "install": "Get it on Google Play",
                     *       "open": "Open the app"
                     *     }
                     */
                    actionLabels?: {
                        [key: string]: string;
                    };
                    details?: {
                        /** @example Offer */
                        label: string;
                        /** @example {{offer}} */
                        value: string;
                    }[];
                };
                /**
                 * @description What links fill in: {{key}} in the texts of content shows the value.
                 * @example [
                 *       {
                 *         "defaultValue": "our offers",
                 *         "key": "offer",
                 *         "label": "Offer",
                 *         "maxLength": 60,
                 *         "required": false
                 *       }
                 *     ]
                 */
                variables?: {
                    /** @example city */
                    key: string;
                    label?: string;
                    type?: string;
                    required?: boolean;
                    /** @description Of a text, in characters. */
                    maxLength?: number;
                    /** @description Shown where a link has none; of the variable's type. */
                    defaultValue?: unknown;
                }[];
            };
            /**
             * @description The templateData of a link. Omitted: it is not validated.
             * @example {
             *       "offer": "20% off"
             *     }
             */
            data?: {
                [key: string]: unknown;
            };
        };
        TemplateValidation: {
            /**
             * @description Nothing is wrong.
             * @example true
             */
            valid: boolean;
            /**
             * @description Their paths begin with /config or /data.
             * @example []
             */
            issues: components["schemas"]["ErrorDetail"][];
            /**
             * @description Of the configuration as canonical JSON.
             * @example 1093
             */
            configBytes: number;
            /**
             * @description Of data as canonical JSON; 0 when it was not sent.
             * @example 19
             */
            dataBytes: number;
        };
        TemplateValidationResponse: {
            data: components["schemas"]["TemplateValidation"];
            meta: components["schemas"]["ResponseMeta"];
        };
        TemplateVariable: {
            /** @example city */
            key: string;
            label?: string;
            /**
             * @default text
             * @enum {string}
             */
            type?: "text" | "number" | "boolean";
            /** @default false */
            required?: boolean;
            /** @description Of a text, in characters. */
            maxLength?: number;
            /** @description Shown where a link has none; of the variable's type. */
            defaultValue?: string | number | boolean;
        };
        TemplateVariableInput: {
            /** @example city */
            key: string;
            label?: string;
            /**
             * @default text
             * @enum {string}
             */
            type?: "text" | "number" | "boolean";
            /** @default false */
            required?: boolean;
            /** @description Of a text, in characters. */
            maxLength?: number;
            /** @description Shown where a link has none; of the variable's type. */
            defaultValue?: string | number | boolean;
        };
        TemplateVersion: {
            /**
             * Format: uuid
             * @example 0198c9a4-c1e5-7a2b-8e31-5d0a4a7bf612
             */
            templateId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @description 1, 2, …
             * @example 1
             */
            version: number;
            /** @enum {string} */
            baseTemplateId: "android" | "ios" | "recovery";
            config: components["schemas"]["TemplateConfig"];
            /**
             * @description Of config as canonical JSON. Versions with the same design have the same.
             * @example 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
             */
            sha256: string;
            /** Format: date-time */
            createdAt: string;
        };
        TemplateVersionAvailability: {
            /** @example 1 */
            version: number;
            /** @enum {string} */
            availability: "available" | "prepared";
        };
        TemplateVersionCreate: Record<string, never>;
        TemplateVersionListResponse: {
            data: components["schemas"]["TemplateVersion"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        TemplateVersionResponse: {
            data: components["schemas"]["TemplateVersion"];
            meta: components["schemas"]["ResponseMeta"];
        };
        TemplateWithDraft: {
            template: components["schemas"]["Template"];
            draft: components["schemas"]["TemplateDraft"];
            /**
             * Format: uuid
             * @description The template's.
             */
            revision: string;
        };
        TemplateWithDraftResponse: {
            data: components["schemas"]["TemplateWithDraft"];
            meta: components["schemas"]["ResponseMeta"];
        };
        UsageReport: {
            /** @description Of the credential. */
            limits: components["schemas"]["CallLimits"];
            /** @description Of the credential. */
            usage: components["schemas"]["CallUsage"];
            sharedLimits: components["schemas"]["SharedLimits"];
            sharedUsage: components["schemas"]["SharedUsage"];
        };
        UsageReportResponse: {
            data: components["schemas"]["UsageReport"];
            meta: components["schemas"]["ResponseMeta"];
        };
        UtmParameters: {
            /** @example newsletter */
            source: string | null;
            /** @example email */
            medium: string | null;
            /** @example spring-sale */
            campaign: string | null;
            term: string | null;
            content: string | null;
        };
        UtmParametersInput: {
            /** @example newsletter */
            source?: string | null;
            /** @example newsletter */
            medium?: string | null;
            /** @example newsletter */
            campaign?: string | null;
            /** @example newsletter */
            term?: string | null;
            /** @example newsletter */
            content?: string | null;
        };
        Webhook: {
            /**
             * Format: uuid
             * @example 0198c9a3-1f08-73b4-97ca-e692d3048fab
             */
            id: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** @example https://hooks.example.com/waymark */
            url: string;
            /**
             * @example [
             *       "link.created",
             *       "link.updated"
             *     ]
             */
            events: ("link.created" | "link.updated" | "link.deleted" | "domain.status_changed" | "template.publication_succeeded" | "template.publication_failed" | "operation.completed" | "operation.failed" | "export.ready")[];
            /** @example Keeps our catalogue up to date */
            description: string | null;
            /** @example true */
            enabled: boolean;
            /**
             * @description Not part of the revision.
             * @enum {string}
             */
            status: "active" | "disabled" | "suspended" | "authorization_required";
            /** @description Not part of the revision. */
            consecutiveFailures: number;
            /**
             * Format: date-time
             * @description Not part of the revision.
             */
            lastSuccessAt: string | null;
            /**
             * Format: date-time
             * @description Not part of the revision.
             */
            lastFailureAt: string | null;
            authorizedBy: components["schemas"]["WebhookAuthorizer"];
            /**
             * Format: uuid
             * @description The revision of the configuration; status, consecutiveFailures, lastSuccessAt and lastFailureAt change without a new one.
             */
            revision: string;
            /**
             * Format: date-time
             * @example 2026-11-20T09:00:00.000Z
             */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        WebhookAuthorizer: {
            /**
             * @example api_key
             * @enum {string}
             */
            type: "human" | "api_key";
            /** @example 0198c9a0-4d21-7b36-9f42-6e1a5b8c0d23 */
            id: string;
        };
        WebhookCreate: {
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * @description HTTPS on port 443 of a public host, without user, password or fragment.
             * @example https://hooks.example.com/waymark
             */
            url: string;
            /**
             * @example [
             *       "link.created",
             *       "link.updated"
             *     ]
             */
            events: ("link.created" | "link.updated" | "link.deleted" | "domain.status_changed" | "template.publication_succeeded" | "template.publication_failed" | "operation.completed" | "operation.failed" | "export.ready")[];
            /** @example Everything for the garden */
            description?: string | null;
            /** @description Default true. */
            enabled?: boolean;
        };
        WebhookDelivery: {
            /**
             * Format: uuid
             * @example 0198c9a3-573c-74c5-88db-f7a3e41590bc
             */
            id: string;
            /**
             * Format: uuid
             * @example 0198c9a3-1f08-73b4-97ca-e692d3048fab
             */
            webhookId: string;
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /**
             * Format: uuid
             * @example 0198c9a3-8f60-75d6-99ec-08b4f526a1cd
             */
            eventId: string;
            /** @enum {string} */
            eventType: "link.created" | "link.updated" | "link.deleted" | "domain.status_changed" | "template.publication_succeeded" | "template.publication_failed" | "operation.completed" | "operation.failed" | "export.ready" | "webhook.test";
            test: boolean;
            /**
             * @example succeeded
             * @enum {string}
             */
            state: "pending" | "delivering" | "succeeded" | "failed" | "cancelled";
            /**
             * @description How many attempts have ended; the one under way is not counted.
             * @example 1
             */
            attempts: number;
            /**
             * @description The status of the last answer; null when there was none.
             * @example 204
             */
            httpStatus: number | null;
            error: components["schemas"]["WebhookDeliveryError"] | null;
            /** Format: date-time */
            nextAttemptAt: string | null;
            /** Format: uuid */
            webhookRevision: string;
            /**
             * Format: uuid
             * @description A fresh UUID at each change.
             */
            revision: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        WebhookDeliveryError: {
            /** @enum {string} */
            code: "timeout" | "connection_failed" | "tls_failed" | "dns_blocked" | "dns_failed" | "http_status" | "redirect_refused" | "authorization_lost" | "configuration_changed" | "suspended";
            /**
             * @description For a person.
             * @example The receiver did not answer in time.
             */
            message: string;
        };
        WebhookDeliveryListResponse: {
            data: components["schemas"]["WebhookDelivery"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        WebhookDeliveryResponse: {
            data: components["schemas"]["WebhookDelivery"];
            meta: components["schemas"]["ResponseMeta"];
        };
        WebhookDeliveryRetryRequest: Record<string, never>;
        WebhookEvent: {
            /**
             * Format: uuid
             * @description The id of the event, also in Service-Event-Id: deduplicate by it.
             * @example 0198c9a3-8f60-75d6-99ec-08b4f526a1cd
             */
            id: string;
            /** @enum {string} */
            type: "link.created" | "link.updated" | "link.deleted" | "domain.status_changed" | "template.publication_succeeded" | "template.publication_failed" | "operation.completed" | "operation.failed" | "export.ready" | "webhook.test";
            /** @enum {string} */
            schemaVersion: "1";
            /** @example app_01k6fq4w8m3x7c9v2n5b1t0rzy */
            appId: string;
            /** Format: date-time */
            occurredAt: string;
            /** @description true only for webhook.test. */
            test: boolean;
            resource: components["schemas"]["WebhookEventResource"];
        };
        WebhookEventResource: {
            /** @example go.example.com:0198c9a2-7f3e-7c11-9d52-0a6f6e1b2c3d */
            id: string;
            /**
             * Format: uuid
             * @description The revision of the resource; of a deleted one, its last.
             */
            revision: string;
        };
        WebhookListResponse: {
            data: components["schemas"]["Webhook"][];
            meta: components["schemas"]["ResponseMeta"];
            pagination: components["schemas"]["Pagination"];
        };
        WebhookPatch: {
            /**
             * @description HTTPS on port 443 of a public host, without user, password or fragment. Another one than before authorizes the destination with the credential of this call, which needs webhooks:create.
             * @example https://go.example.com/sale/spring
             */
            url?: string;
            /** @description Other events than before authorize the destination with the credential of this call, which needs webhooks:create. */
            events?: ("link.created" | "link.updated" | "link.deleted" | "domain.status_changed" | "template.publication_succeeded" | "template.publication_failed" | "operation.completed" | "operation.failed" | "export.ready")[];
            /** @example Everything for the garden */
            description?: string | null;
            /**
             * @description true also authorizes the destination with the credential of this call, which needs webhooks:create, and ends a suspension.
             * @example true
             */
            enabled?: boolean;
        };
        WebhookResponse: {
            data: components["schemas"]["Webhook"];
            meta: components["schemas"]["ResponseMeta"];
        };
        WebhookSecretRotateRequest: {
            overlapSeconds: number;
        };
        WebhookTestRequest: Record<string, never>;
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
