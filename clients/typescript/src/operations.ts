// Made of api/openapi.yaml by `npm run generate`.

import type { components } from "./schemas.js";

/** The schemas of the contract by their names, such as `Schemas["Link"]`. */
export type Schemas = components["schemas"];

/** Each operation of the contract: what it takes, what its data is, and whether that is a page of a list. */
export interface Operations {
  /**
   * Get the current user.
   * Needs the permission `identity:read`.
   */
  getMe: {
    args: {};
    data: Schemas["ProfileResponse"]["data"];
  };
  /**
   * Update your profile.
   * Omitted fields keep their values; a null photoUrl removes the photo.
   * Needs the permission `profile:update` and a human session; API keys are refused.
   */
  updateMe: {
    args: {
      /** The revision that was last read. */
      revision: string;
      body: Schemas["ProfilePatch"];
    };
    data: Schemas["ProfileResponse"]["data"];
  };
  /**
   * Get your preferences.
   * Needs the permission `preferences:read` and a human session; API keys are refused.
   */
  getMePreferences: {
    args: {};
    data: Schemas["PreferencesResponse"]["data"];
  };
  /**
   * Update your preferences.
   * Omitted fields keep their values; null clears a selectedAppId, a timezone or a locale.
   * Needs the permission `preferences:update` and a human session; API keys are refused.
   */
  updateMePreferences: {
    args: {
      /** The revision that was last read. */
      revision: string;
      body: Schemas["PreferencesPatch"];
    };
    data: Schemas["PreferencesResponse"]["data"];
  };
  /**
   * Create an API key.
   * The secret is in this answer only; a digest of it is stored.
   * Needs the permission `api_keys:create` and a human session; API keys are refused.
   */
  createApiKeys: {
    args: {
      body: Schemas["ApiKeyCreate"];
    };
    data: Schemas["IssuedApiKeyResponse"]["data"];
  };
  /**
   * List API keys.
   * Needs the permission `api_keys:read` and a human session; API keys are refused.
   */
  getApiKeys: {
    args: {
      status?: "active" | "expired" | "revoked";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["ApiKeyListResponse"]["data"];
    page: true;
  };
  /**
   * Get an API key.
   * Needs the permission `api_keys:read` and a human session; API keys are refused.
   */
  getApiKeysKeyId: {
    args: {
      keyId: string;
    };
    data: Schemas["ApiKeyResponse"]["data"];
  };
  /**
   * Rename an API key or reduce its permissions.
   * Widening the scope or extending the expiry needs a new key.
   * Needs the permission `api_keys:update` and a human session; API keys are refused.
   */
  updateApiKeysKeyId: {
    args: {
      keyId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["ApiKeyPatch"];
    };
    data: Schemas["ApiKeyResponse"]["data"];
  };
  /**
   * Revoke an API key.
   * The next request with its secret gets 401. The key stays readable; one that expired or was revoked before is answered alike.
   * Needs the permission `api_keys:delete` and a human session; API keys are refused.
   */
  deleteApiKeysKeyId: {
    args: {
      keyId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * Rotate an API key.
   * The successor has the same scope and expiry. The old key is accepted for overlapSeconds more, at most until its expiry. Both count against the same rate windows.
   * Needs the permission `api_keys:rotate` and a human session; API keys are refused.
   */
  rotateApiKeysKeyId: {
    args: {
      keyId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["ApiKeyRotateRequest"];
    };
    data: Schemas["IssuedApiKeyResponse"]["data"];
  };
  /**
   * List apps.
   * A key sees the apps it is authorized for.
   * Needs the permission `apps:read`.
   */
  getApps: {
    args: {
      /** Text that the name contains, ignoring case. */
      q?: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["AppListResponse"]["data"];
    page: true;
  };
  /**
   * Create an app.
   * Needs the permission `apps:create` and a human session; API keys are refused.
   */
  createApps: {
    args: {
      body: Schemas["AppCreate"];
    };
    data: Schemas["AppResponse"]["data"];
  };
  /**
   * Get an app.
   * Needs the permission `apps:read`.
   */
  getAppsAppId: {
    args: {
      appId: string;
    };
    data: Schemas["AppResponse"]["data"];
  };
  /**
   * Update an app.
   * Only the fields sent change; null clears one.
   * Needs the permission `apps:update`.
   */
  updateAppsAppId: {
    args: {
      appId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["AppPatch"];
    };
    data: Schemas["AppResponse"]["data"];
  };
  /**
   * Delete an app.
   * An app with links, domains, running operations or images that are being stored or deleted stays: 409 with its dependencies. The history of a deleted link and the record of a removed domain are kept for 30 days; until then they are among the dependencies, with availableAt.
   * Needs the permission `apps:delete`.
   */
  deleteAppsAppId: {
    args: {
      appId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * Get the default destinations of new links.
   * Needs the permission `apps:read`.
   */
  getAppsAppIdDefaults: {
    args: {
      appId: string;
    };
    data: Schemas["AppDefaultsResponse"]["data"];
  };
  /**
   * Set the default destinations of new links.
   * Omitted fields are cleared. Stored links keep their destinations.
   * Needs the permission `apps:update`.
   */
  setAppsAppIdDefaults: {
    args: {
      appId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["AppDefaultsInput"];
    };
    data: Schemas["AppDefaultsResponse"]["data"];
  };
  /**
   * List and search links.
   * Filters combine.
   * Needs the permission `links:read`.
   */
  getLinks: {
    args: {
      appId: string;
      domain?: string;
      /** Empty: links without prefix. */
      prefix?: string;
      group?: "main" | "operational";
      origin?: string;
      /** Text that title, description or slug contain, ignoring case but not accents. */
      q?: string;
      /** Inclusive. */
      createdFrom?: string;
      /** Exclusive. */
      createdTo?: string;
      order?: "createdAt:asc" | "createdAt:desc";
      folderId?: string;
      campaignId?: string;
      tagId?: string;
      /** As the state of a link is now. */
      state?: "active" | "scheduled" | "expired" | "archived";
      archived?: "all" | "true" | "false";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["LinkListResponse"]["data"];
    page: true;
  };
  /**
   * Create a short link.
   * Shortens a URL, or makes a deep link into an app. The link is stored; its publication tells when the redirector resolves it.
   * Needs the permission `links:create`.
   */
  createLinks: {
    args: {
      body: Schemas["LinkCreate"];
    };
    data: Schemas["LinkResponse"]["data"];
  };
  /**
   * Get a link.
   * Needs the permission `links:read`.
   */
  getLinksLinkId: {
    args: {
      linkId: string;
    };
    data: Schemas["LinkResponse"]["data"];
  };
  /**
   * Update a link.
   * Only the fields sent change, also inside lifecycle, utm and templateSelection; null clears one.
   * Needs the permission `links:update`.
   */
  updateLinksLinkId: {
    args: {
      linkId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["LinkPatch"];
    };
    data: Schemas["LinkResponse"]["data"];
  };
  /**
   * Delete a link.
   * Its address is free again; its history and its events stay. A link with stored QR codes stays: 409 with its dependencies.
   * Needs the permission `links:delete`.
   */
  deleteLinksLinkId: {
    args: {
      linkId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * Get the publication status of a link.
   * Under the link's revision, of which the publication is not part.
   * Needs the permission `links:read`.
   */
  getLinksLinkIdPublication: {
    args: {
      linkId: string;
    };
    data: Schemas["PublicationDetailResponse"]["data"];
  };
  /**
   * Publish a link again.
   * Needs the permission `links:resync`.
   */
  resyncLinksLinkId: {
    args: {
      linkId: string;
      /** The revision that was last read. */
      revision: string;
      body?: Schemas["LinkResyncRequest"];
    };
    data: Schemas["PublicationDetailResponse"]["data"];
  };
  /**
   * Duplicate a link.
   * The copy has the folder, campaign, tags, parameters, destinations, routing rules and template selection of the original, not its history, clicks or archived state.
   * Needs the permission `links:create`.
   */
  duplicateLinksLinkId: {
    args: {
      linkId: string;
      /** The revision that was last read. */
      revision?: string;
      body: Schemas["LinkDuplicateRequest"];
    };
    data: Schemas["LinkResponse"]["data"];
  };
  /**
   * Validate a link without creating it.
   * Tells what createLinks would refuse of the data: all of it is an answer, not a refusal, but for fields that are unknown, missing or of a wrong type. It reserves nothing.
   * Needs the permission `links:validate`.
   */
  validateLinks: {
    args: {
      body: Schemas["LinkValidateRequest"];
    };
    data: Schemas["LinkValidationResponse"]["data"];
  };
  /**
   * Check whether a slug is available.
   * It reserves nothing.
   * Needs the permission `links:read`.
   */
  getLinksAvailability: {
    args: {
      domain: string;
      prefix?: string;
      slug: string;
    };
    data: Schemas["LinkAvailabilityResponse"]["data"];
  };
  /**
   * Preview where a link redirects.
   * Decided as the redirector does, from the link as it is now, published or not. Nothing is counted.
   * Needs the permission `links:preview`.
   */
  previewLinksLinkId: {
    args: {
      linkId: string;
      /** The revision that was last read. */
      revision?: string;
      body: Schemas["LinkPreviewRequest"];
    };
    data: Schemas["LinkPreviewResponse"]["data"];
  };
  /**
   * List the change history of a link.
   * Also of a link that is gone. Names of fields, never values.
   * Needs the permission `link_history:read`.
   */
  getLinksLinkIdHistory: {
    args: {
      linkId: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["LinkHistoryEntryListResponse"]["data"];
    page: true;
  };
  /**
   * Get the tags of a link.
   * Needs the permission `tags:read`.
   */
  getLinksLinkIdTags: {
    args: {
      linkId: string;
    };
    data: Schemas["LinkTagsResponse"]["data"];
  };
  /**
   * Set the tags of a link.
   * The link gets a new revision.
   * Needs the permission `tags:update`.
   */
  setLinksLinkIdTags: {
    args: {
      linkId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["LinkTagsInput"];
    };
    data: Schemas["LinkTagsResponse"]["data"];
  };
  /**
   * Get the routing rules of a link.
   * Needs the permission `routing_rules:read`.
   */
  getLinksLinkIdRoutingRules: {
    args: {
      linkId: string;
    };
    data: Schemas["LinkRoutingRulesResponse"]["data"];
  };
  /**
   * Set the routing rules of a link.
   * Rules redirect by device, country and time. The first rule that matches a visit decides, in the order of the array. The link gets a new revision.
   * Needs the permission `routing_rules:update`.
   */
  setLinksLinkIdRoutingRules: {
    args: {
      linkId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["LinkRoutingRulesInput"];
    };
    data: Schemas["LinkRoutingRulesResponse"]["data"];
  };
  /**
   * Get the templates of a link.
   * Needs the permission `template_bindings:read`.
   */
  getLinksLinkIdTemplateSelection: {
    args: {
      linkId: string;
    };
    data: Schemas["LinkTemplateSelectionResponse"]["data"];
  };
  /**
   * Set the templates of a link.
   * The link gets a new revision. A version that requires other values than the link has is refused (409): set templateSelection and templateData together then, with updateLinksLinkId.
   * Needs the permission `template_bindings:update`.
   */
  setLinksLinkIdTemplateSelection: {
    args: {
      linkId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["LinkTemplateSelectionInput"];
    };
    data: Schemas["LinkTemplateSelectionResponse"]["data"];
  };
  /**
   * List the links of a campaign.
   * Needs the permission `campaigns:read`.
   */
  getCampaignsCampaignIdLinks: {
    args: {
      campaignId: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["LinkListResponse"]["data"];
    page: true;
  };
  /**
   * List domains.
   * Needs the permission `domains:read`.
   */
  getDomains: {
    args: {
      appId: string;
      detached?: boolean;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["DomainListResponse"]["data"];
    page: true;
  };
  /**
   * Add a domain.
   * A platform domain is ready for links at once; follow the operation until the redirector answers on it. An external or managed domain is a claim: add the record of its `challenge` to the DNS and verify it. Others may claim the same hostname; the first who proves it gets it.
   * Needs the permission `domains:create`.
   */
  createDomains: {
    args: {
      body: Schemas["DomainCreate"];
    };
    data: Schemas["OperationResponse"]["data"];
  };
  /**
   * Get a domain.
   * Needs the permission `domains:read`.
   */
  getDomainsDomainId: {
    args: {
      domainId: string;
    };
    data: Schemas["DomainResponse"]["data"];
  };
  /**
   * Detach a domain.
   * The hostname is free for others once the operation is done. A domain that has links or is the app's default stays: 409 with its dependencies.
   * Needs the permission `domains:delete`.
   */
  deleteDomainsDomainId: {
    args: {
      domainId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: Schemas["OperationResponse"]["data"];
  };
  /**
   * Verify a domain.
   * Looks up the challenge and the hostname in the DNS, gets the certificate, and asks the hostname over HTTPS who answers there. The operation succeeds when all of it is right, and links can be made. Otherwise it fails with ownership_not_proved, resource_conflict (another domain proved the hostname first), dns_misconfigured, dns_unavailable, certificate_failed, probe_failed or domain_detached; its message says what to change, and so do lastError and the diagnostics of the domain. What was proved stays proved. A domain that works keeps its states until its checks have failed for an hour.
   * Needs the permission `domains:verify`.
   */
  verifyDomainsDomainId: {
    args: {
      domainId: string;
      /** The revision that was last read. */
      revision: string;
      body?: Schemas["DomainVerifyRequest"];
    };
    data: Schemas["OperationResponse"]["data"];
  };
  /**
   * Get the diagnostics of a domain.
   * What the last verification saw, and what should have been seen. Nothing is looked up for this answer.
   * Needs the permission `domains:read`.
   */
  getDomainsDomainIdDiagnostics: {
    args: {
      domainId: string;
    };
    data: Schemas["DomainDiagnosticsResponse"]["data"];
  };
  /**
   * Get the native apps of a domain.
   * Until they are set, they are the iOS app of the domain's app, when that has iosTeamId and iosBundleId. An Android app is never there by itself, as its certificates are not known.
   * Needs the permission `native_config:read`.
   */
  getDomainsDomainIdNativeConfig: {
    args: {
      domainId: string;
    };
    data: Schemas["DomainNativeConfigStateResponse"]["data"];
  };
  /**
   * Set the native apps of a domain.
   * The hostname serves them as /.well-known/apple-app-site-association and /.well-known/assetlinks.json. What is omitted of an app is taken from the domain's app. The domain gets a new revision.
   * Needs the permission `native_config:update`.
   */
  setDomainsDomainIdNativeConfig: {
    args: {
      domainId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["DomainNativeConfigInput"];
    };
    data: Schemas["DomainNativeConfigStateResponse"]["data"];
  };
  /**
   * Get what a domain shows besides links.
   * Needs the permission `web_config:read`.
   */
  getDomainsDomainIdWebConfig: {
    args: {
      domainId: string;
    };
    data: Schemas["DomainWebConfigStateResponse"]["data"];
  };
  /**
   * Set what a domain shows besides links.
   * What is omitted gets its default. The domain gets a new revision.
   * Needs the permission `web_config:update`.
   */
  setDomainsDomainIdWebConfig: {
    args: {
      domainId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["DomainWebConfigInput"];
    };
    data: Schemas["DomainWebConfigStateResponse"]["data"];
  };
  /**
   * Get the recovery of links after an installation.
   * Needs the permission `recovery_config:read`.
   */
  getDomainsDomainIdRecoveryConfig: {
    args: {
      domainId: string;
    };
    data: Schemas["DomainRecoveryConfigStateResponse"]["data"];
  };
  /**
   * Set the recovery of links after an installation.
   * What is omitted gets its default. The domain gets a new revision.
   * Needs the permission `recovery_config:update`.
   */
  setDomainsDomainIdRecoveryConfig: {
    args: {
      domainId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["DomainRecoveryConfigInput"];
    };
    data: Schemas["DomainRecoveryConfigStateResponse"]["data"];
  };
  /**
   * Get what can be done with a domain.
   * Needs the permission `capabilities:read`.
   */
  getDomainsDomainIdCapabilities: {
    args: {
      domainId: string;
    };
    data: Schemas["DomainCapabilitiesResponse"]["data"];
  };
  /**
   * Get the ways to connect a domain.
   * Needs the permission `domains:read`.
   */
  getDomainOptions: {
    args: {
      appId: string;
    };
    data: Schemas["DomainOptionsResponse"]["data"];
  };
  /**
   * List the DNS records of a managed domain.
   * The newest first, with those that the installation made. A record that was changed at the DNS provider stays as it is there, has the status `wrong` and shows what was `observed`; any change of a record of the same name and type replaces that.
   * Needs the permission `dns:read`.
   */
  getDomainsDomainIdDnsRecords: {
    args: {
      domainId: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["DnsRecordListResponse"]["data"];
    page: true;
  };
  /**
   * Add a DNS record to a managed domain.
   * The ownership of the domain must be proved. It reaches the DNS within moments: follow its `status`.
   * Needs the permission `dns:create`.
   */
  createDomainsDomainIdDnsRecords: {
    args: {
      domainId: string;
      body: Schemas["DnsRecordCreate"];
    };
    data: Schemas["DnsRecordResponse"]["data"];
  };
  /**
   * Update a DNS record.
   * Only the fields sent change. A TTL is that of all records of the same name and type, which get a new revision with it. It reaches the DNS within moments: follow its `status`.
   * Needs the permission `dns:update`.
   */
  updateDomainsDomainIdDnsRecordsRecordId: {
    args: {
      domainId: string;
      recordId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["DnsRecordPatch"];
    };
    data: Schemas["DnsRecordResponse"]["data"];
  };
  /**
   * Delete a DNS record.
   * It leaves the list at once and the DNS within moments.
   * Needs the permission `dns:delete`.
   */
  deleteDomainsDomainIdDnsRecordsRecordId: {
    args: {
      domainId: string;
      recordId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * List tags.
   * Needs the permission `tags:read`.
   */
  getTags: {
    args: {
      appId: string;
      /** Text that name or description contain, ignoring case but not accents. */
      q?: string;
      archived?: "all" | "true" | "false";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["TagListResponse"]["data"];
    page: true;
  };
  /**
   * Create a tag.
   * Needs the permission `tags:create`.
   */
  createTags: {
    args: {
      body: Schemas["TagCreate"];
    };
    data: Schemas["TagResponse"]["data"];
  };
  /**
   * Get a tag.
   * Needs the permission `tags:read`.
   */
  getTagsTagId: {
    args: {
      tagId: string;
    };
    data: Schemas["TagResponse"]["data"];
  };
  /**
   * Update a tag.
   * Only the fields sent change; null clears one.
   * Needs the permission `tags:update`.
   */
  updateTagsTagId: {
    args: {
      tagId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["TagPatch"];
    };
    data: Schemas["TagResponse"]["data"];
  };
  /**
   * Delete a tag.
   * Its links lose it and get a new revision, the same for all of them; nothing else changes. Their history does not tell of it, and no event is sent.
   * Needs the permission `tags:delete`.
   */
  deleteTagsTagId: {
    args: {
      tagId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * List folders.
   * Needs the permission `folders:read`.
   */
  getFolders: {
    args: {
      appId: string;
      /** Text that name or description contain, ignoring case but not accents. */
      q?: string;
      archived?: "all" | "true" | "false";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["FolderListResponse"]["data"];
    page: true;
  };
  /**
   * Create a folder.
   * Needs the permission `folders:create`.
   */
  createFolders: {
    args: {
      body: Schemas["FolderCreate"];
    };
    data: Schemas["FolderResponse"]["data"];
  };
  /**
   * Get a folder.
   * Needs the permission `folders:read`.
   */
  getFoldersFolderId: {
    args: {
      folderId: string;
    };
    data: Schemas["FolderResponse"]["data"];
  };
  /**
   * Update a folder.
   * Only the fields sent change; null clears one.
   * Needs the permission `folders:update`.
   */
  updateFoldersFolderId: {
    args: {
      folderId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["FolderPatch"];
    };
    data: Schemas["FolderResponse"]["data"];
  };
  /**
   * Delete a folder.
   * A folder that holds links stays: 409 with its dependencies.
   * Needs the permission `folders:delete`.
   */
  deleteFoldersFolderId: {
    args: {
      folderId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * List campaigns.
   * Needs the permission `campaigns:read`.
   */
  getCampaigns: {
    args: {
      appId: string;
      /** Text that name or description contain, ignoring case but not accents. */
      q?: string;
      archived?: "all" | "true" | "false";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["CampaignListResponse"]["data"];
    page: true;
  };
  /**
   * Create a campaign.
   * Needs the permission `campaigns:create`.
   */
  createCampaigns: {
    args: {
      body: Schemas["CampaignCreate"];
    };
    data: Schemas["CampaignResponse"]["data"];
  };
  /**
   * Get a campaign.
   * Needs the permission `campaigns:read`.
   */
  getCampaignsCampaignId: {
    args: {
      campaignId: string;
    };
    data: Schemas["CampaignResponse"]["data"];
  };
  /**
   * Update a campaign.
   * Only the fields sent change; null clears one. Its links take over changed parameters when they are published again, which starts at once.
   * Needs the permission `campaigns:update`.
   */
  updateCampaignsCampaignId: {
    args: {
      campaignId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["CampaignPatch"];
    };
    data: Schemas["CampaignResponse"]["data"];
  };
  /**
   * Delete a campaign.
   * A campaign that links refer to stays: 409 with its dependencies.
   * Needs the permission `campaigns:delete`.
   */
  deleteCampaignsCampaignId: {
    args: {
      campaignId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * List uploaded images.
   * Needs the permission `assets:read`.
   */
  getAssets: {
    args: {
      appId: string;
      state?: "active" | "deleting";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["AssetListResponse"]["data"];
    page: true;
  };
  /**
   * Upload an image.
   * PNG or JPEG, up to 1 MiB and 4096 by 4096 pixels; 4 GiB of images for an account. It does not become a logo by itself.
   * Needs the permission `assets:create`.
   */
  createAssets: {
    args: {
      body: Schemas["AssetUpload"];
    };
    data: Schemas["AssetResponse"]["data"];
  };
  /**
   * Get the details of an image.
   * Needs the permission `assets:read`.
   */
  getAssetsAssetId: {
    args: {
      assetId: string;
    };
    data: Schemas["AssetResponse"]["data"];
  };
  /**
   * Delete an image.
   * An image that a logo, link, QR code or template shows stays: 409 with its dependencies.
   * Needs the permission `assets:delete`.
   */
  deleteAssetsAssetId: {
    args: {
      assetId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * Get the logo of an app.
   * Needs the permission `apps:read`.
   */
  getAppsAppIdLogo: {
    args: {
      appId: string;
    };
    data: Schemas["AppLogoResponse"]["data"];
  };
  /**
   * Set the logo of an app.
   * Under the app's revision.
   * Needs the permission `apps:update`.
   */
  setAppsAppIdLogo: {
    args: {
      appId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["AppLogoInput"];
    };
    data: Schemas["AppLogoResponse"]["data"];
  };
  /**
   * Remove the logo of an app.
   * Under the app's revision, whose new value is the ETag. The image stays. Without a logo nothing changes.
   * Needs the permission `apps:update`.
   */
  deleteAppsAppIdLogo: {
    args: {
      appId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * List the base templates.
   * Needs the permission `templates:read`.
   */
  getTemplateCatalog: {
    args: {
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["TemplateCatalogItemListResponse"]["data"];
    page: true;
  };
  /**
   * Get the schema of the configuration of a base template.
   * Needs the permission `templates:read`.
   */
  getTemplateCatalogBaseIdSchema: {
    args: {
      baseId: string;
    };
    data: Schemas["TemplateCatalogSchemaResponse"]["data"];
  };
  /**
   * List the template versions that may be chosen.
   * Of templates that are not archived, newest first.
   * Needs the permission `templates:read`.
   */
  getTemplateChoices: {
    args: {
      appId: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["TemplateChoiceListResponse"]["data"];
    page: true;
  };
  /**
   * List templates.
   * Needs the permission `templates:read`.
   */
  getTemplates: {
    args: {
      appId: string;
      archived?: "all" | "true" | "false";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["TemplateListResponse"]["data"];
    page: true;
  };
  /**
   * Create a template.
   * An app has at most 200 templates that are not archived, and 1,000 in all.
   * Needs the permission `templates:create`.
   */
  createTemplates: {
    args: {
      body: Schemas["TemplateCreate"];
    };
    data: Schemas["TemplateWithDraftResponse"]["data"];
  };
  /**
   * Get a template with its draft.
   * Needs the permission `templates:read`.
   */
  getTemplatesTemplateId: {
    args: {
      templateId: string;
    };
    data: Schemas["TemplateWithDraftResponse"]["data"];
  };
  /**
   * Rename or archive a template.
   * Only the fields sent change. The draft has an operation of its own. Templates are not deleted: an archived one goes with its app.
   * Needs the permission `templates:update`.
   */
  updateTemplatesTemplateId: {
    args: {
      templateId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["TemplatePatch"];
    };
    data: Schemas["TemplateWithDraftResponse"]["data"];
  };
  /**
   * Duplicate a template.
   * The copy begins with the design of a version, or of the draft; it has no versions and is not archived. If-Match is the template's revision. With draftRevision a draft that has changed since is refused (412).
   * Needs the permission `templates:create`.
   */
  duplicateTemplatesTemplateId: {
    args: {
      templateId: string;
      /** The revision that was last read. */
      revision?: string;
      body: Schemas["TemplateDuplicateRequest"];
    };
    data: Schemas["TemplateWithDraftResponse"]["data"];
  };
  /**
   * Get the draft of a template.
   * Needs the permission `templates:read`.
   */
  getTemplatesTemplateIdDraft: {
    args: {
      templateId: string;
    };
    data: Schemas["TemplateDraftResponse"]["data"];
  };
  /**
   * Save the draft of a template.
   * If-Match is the draft's revision. The template gets a new revision too. Colours that are hard to read may be saved; a version needs better ones.
   * Needs the permission `templates:update`.
   */
  setTemplatesTemplateIdDraft: {
    args: {
      templateId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["TemplateDraftInput"];
    };
    data: Schemas["TemplateDraftResponse"]["data"];
  };
  /**
   * Validate a design.
   * Tells what keeps a configuration, by default the draft, from becoming a version, and what is wrong with the values of its variables: all of it is an answer, not a refusal, but for fields that are unknown, missing or of a wrong type. If-Match is the template's revision. Nothing is stored.
   * Needs the permission `templates:validate`.
   */
  validateTemplatesTemplateId: {
    args: {
      templateId: string;
      /** The revision that was last read. */
      revision?: string;
      body: Schemas["TemplateValidateRequest"];
    };
    data: Schemas["TemplateValidationResponse"]["data"];
  };
  /**
   * Preview a page.
   * Renders a configuration, by default the draft, as the redirector does, for a link without a title. Links lead to the app's own addresses; where it has none, to examples. If-Match is the template's revision. Nothing is stored or counted.
   * Needs the permission `templates:preview`.
   */
  previewTemplatesTemplateId: {
    args: {
      templateId: string;
      /** The revision that was last read. */
      revision?: string;
      body: Schemas["TemplatePreviewRequest"];
    };
    data: Schemas["TemplatePreviewResponse"]["data"];
  };
  /**
   * List the versions of a template.
   * Newest first.
   * Needs the permission `templates:read`.
   */
  getTemplatesTemplateIdVersions: {
    args: {
      templateId: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["TemplateVersionListResponse"]["data"];
    page: true;
  };
  /**
   * Make a version of the draft.
   * If-Match is the draft's revision. A draft with an issue is refused (422 with all of them). Each call makes one more version, also of a draft that did not change. A template has at most 1,000.
   * Needs the permission `templates:snapshot`.
   */
  createTemplatesTemplateIdVersions: {
    args: {
      templateId: string;
      /** The revision that was last read. */
      revision?: string;
      body?: Schemas["TemplateVersionCreate"];
    };
    data: Schemas["TemplateVersionResponse"]["data"];
  };
  /**
   * Get a version of a template.
   * A version never changes.
   * Needs the permission `templates:read`.
   */
  getTemplatesTemplateIdVersionsVersion: {
    args: {
      templateId: string;
      version: string;
    };
    data: Schemas["TemplateVersionResponse"]["data"];
  };
  /**
   * Get which versions the redirector has, and how many use the template.
   * Needs the permission `templates:read`.
   */
  getTemplatesTemplateIdAvailability: {
    args: {
      templateId: string;
    };
    data: Schemas["TemplateAvailabilityResponse"]["data"];
  };
  /**
   * Get the default templates of an app.
   * Needs the permission `template_bindings:read`.
   */
  getAppsAppIdTemplateDefaults: {
    args: {
      appId: string;
    };
    data: Schemas["TemplateDefaultsResponse"]["data"];
  };
  /**
   * Set the default templates of an app.
   * For links that choose none, on domains that choose none. The app gets a new revision, and its domains are published again.
   * Needs the permission `template_bindings:update`.
   */
  setAppsAppIdTemplateDefaults: {
    args: {
      appId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["TemplateDefaultsInput"];
    };
    data: Schemas["TemplateDefaultsResponse"]["data"];
  };
  /**
   * Get the default templates of a domain.
   * Needs the permission `template_bindings:read`.
   */
  getDomainsDomainIdTemplateDefaults: {
    args: {
      domainId: string;
    };
    data: Schemas["TemplateDefaultsResponse"]["data"];
  };
  /**
   * Set the default templates of a domain.
   * For links that choose none. The domain gets a new revision and is published again.
   * Needs the permission `template_bindings:update`.
   */
  setDomainsDomainIdTemplateDefaults: {
    args: {
      domainId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["TemplateDefaultsInput"];
    };
    data: Schemas["TemplateDefaultsResponse"]["data"];
  };
  /**
   * Publish a template.
   * Has apps, domains and links choose a version, by default one of the draft as it is. Follow the publication until it ends. A target whose choice changed since it was read is left as it is (conflict), and so is one that a newer publication takes over (superseded). If-Match is the template's revision.
   * Needs the permission `templates:publish`.
   */
  publishTemplatesTemplateId: {
    args: {
      templateId: string;
      /** The revision that was last read. */
      revision?: string;
      body: Schemas["TemplatePublishRequest"];
    };
    data: Schemas["TemplatePublicationResponse"]["data"];
  };
  /**
   * Restore a template.
   * Has apps, domains and links choose an earlier version, or give up their choice: official takes the official template, inherit that of the wider scope.
   * Needs the permission `templates:publish`.
   */
  restoreTemplatesTemplateId: {
    args: {
      templateId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["TemplateRestoreRequest"];
    };
    data: Schemas["TemplatePublicationResponse"]["data"];
  };
  /**
   * List publications.
   * The newest first. One that is over is kept for 30 days.
   * Needs the permission `templates:read`.
   */
  getTemplatePublications: {
    args: {
      appId: string;
      templateId?: string;
      state?: "queued" | "applying" | "confirmed" | "partial" | "conflict" | "superseded" | "denied";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["TemplatePublicationListResponse"]["data"];
    page: true;
  };
  /**
   * Get a publication.
   * Needs the permission `templates:read`.
   */
  getTemplatePublicationsPublicationId: {
    args: {
      publicationId: string;
    };
    data: Schemas["TemplatePublicationResponse"]["data"];
  };
  /**
   * Retry a publication.
   * Takes up the targets that are in conflict or denied, on behalf of the caller, who needs templates:publish too. For a target in conflict, the choice that it has at the time of this call is replaced. Allowed from partial, conflict and denied.
   * Needs the permission `templates:retry`.
   */
  retryTemplatePublicationsPublicationId: {
    args: {
      publicationId: string;
      /** The revision that was last read. */
      revision: string;
      body?: Schemas["TemplatePublicationRetryRequest"];
    };
    data: Schemas["TemplatePublicationResponse"]["data"];
  };
  /**
   * Generate a QR code for a link.
   * It holds the link's address and a mark by which visits count as scans.
   * Needs the permission `qr_codes:read`.
   */
  getLinksLinkIdQr: {
    args: {
      linkId: string;
      /** Default png. */
      format?: "png" | "svg";
      /** Width and height in pixels; default 512. */
      size?: number;
      /** Quiet zone in modules; default 4. */
      margin?: number;
      /** Default #000000. */
      foreground?: string;
      /** Default #ffffff. The contrast must be at least 3:1; transparent counts as white. */
      background?: string;
      /** Default M. */
      errorCorrection?: "L" | "M" | "Q" | "H";
    };
    data: Blob;
  };
  /**
   * List saved QR codes.
   * Needs the permission `qr_codes:read`.
   */
  getQrCodes: {
    args: {
      appId: string;
      linkId?: string;
      /** Text that the name contains, ignoring case but not accents. */
      q?: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["QrCodeListResponse"]["data"];
    page: true;
  };
  /**
   * Save a QR code for a link.
   * While it is stored its link cannot be deleted.
   * Needs the permission `qr_codes:create`.
   */
  createQrCodes: {
    args: {
      body: Schemas["QrCodeCreate"];
    };
    data: Schemas["QrCodeResponse"]["data"];
  };
  /**
   * Get a saved QR code.
   * Needs the permission `qr_codes:read`.
   */
  getQrCodesQrId: {
    args: {
      qrId: string;
    };
    data: Schemas["QrCodeResponse"]["data"];
  };
  /**
   * Update a saved QR code.
   * Only the fields sent change; null takes the logo away.
   * Needs the permission `qr_codes:update`.
   */
  updateQrCodesQrId: {
    args: {
      qrId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["QrCodePatch"];
    };
    data: Schemas["QrCodeResponse"]["data"];
  };
  /**
   * Delete a saved QR code.
   * What was printed goes on working.
   * Needs the permission `qr_codes:delete`.
   */
  deleteQrCodesQrId: {
    args: {
      qrId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * Download a saved QR code.
   * Needs the permission `qr_codes:read`.
   */
  getQrCodesQrIdDownload: {
    args: {
      qrId: string;
      /** Default: the stored one. */
      format?: "png" | "svg";
    };
    data: Blob;
  };
  /**
   * List webhooks.
   * Needs the permission `webhooks:read`.
   */
  getWebhooks: {
    args: {
      appId: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["WebhookListResponse"]["data"];
    page: true;
  };
  /**
   * Create a webhook.
   * Events are sent as long as the credential of this call stays authorized, so register with an API key: a session ends within hours. Only this answer shows the secret.
   * Needs the permission `webhooks:create`.
   */
  createWebhooks: {
    args: {
      body: Schemas["WebhookCreate"];
    };
    data: Schemas["IssuedWebhookResponse"]["data"];
  };
  /**
   * Get a webhook.
   * Needs the permission `webhooks:read`.
   */
  getWebhooksWebhookId: {
    args: {
      webhookId: string;
    };
    data: Schemas["WebhookResponse"]["data"];
  };
  /**
   * Update a webhook.
   * Only the fields sent change. enabled: true, another url and other events authorize the destination with the credential of this call, which needs webhooks:create. enabled: true also ends a suspension. Pending deliveries are cancelled.
   * Needs the permission `webhooks:update`.
   */
  updateWebhooksWebhookId: {
    args: {
      webhookId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["WebhookPatch"];
    };
    data: Schemas["WebhookResponse"]["data"];
  };
  /**
   * Delete a webhook.
   * Its deliveries can be read for seven days.
   * Needs the permission `webhooks:delete`.
   */
  deleteWebhooksWebhookId: {
    args: {
      webhookId: string;
      /** The revision that was last read. */
      revision: string;
    };
    data: undefined;
  };
  /**
   * Rotate the signing secret of a webhook.
   * For overlapSeconds each delivery is signed with the old secret too. Only this answer shows the new one. Pending deliveries are cancelled.
   * Needs the permission `webhooks:rotate_secret`.
   */
  rotateSecretWebhooksWebhookId: {
    args: {
      webhookId: string;
      /** The revision that was last read. */
      revision: string;
      body: Schemas["WebhookSecretRotateRequest"];
    };
    data: Schemas["RotatedWebhookSecretResponse"]["data"];
  };
  /**
   * Send a test event to a webhook.
   * Needs the permission `webhooks:test`.
   */
  testWebhooksWebhookId: {
    args: {
      webhookId: string;
      /** The revision that was last read. */
      revision?: string;
      body?: Schemas["WebhookTestRequest"];
    };
    data: Schemas["WebhookDeliveryResponse"]["data"];
  };
  /**
   * List the deliveries of a webhook.
   * The deliveries of the last seven days, also of a deleted destination.
   * Needs the permission `webhooks:read`.
   */
  getWebhooksWebhookIdDeliveries: {
    args: {
      webhookId: string;
      state?: "pending" | "delivering" | "succeeded" | "failed" | "cancelled";
      eventType?: "link.created" | "link.updated" | "link.deleted" | "domain.status_changed" | "template.publication_succeeded" | "template.publication_failed" | "operation.completed" | "operation.failed" | "export.ready" | "webhook.test";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["WebhookDeliveryListResponse"]["data"];
    page: true;
  };
  /**
   * Get a webhook delivery.
   * Needs the permission `webhooks:read`.
   */
  getWebhookDeliveriesDeliveryId: {
    args: {
      deliveryId: string;
    };
    data: Schemas["WebhookDeliveryResponse"]["data"];
  };
  /**
   * Retry a webhook delivery.
   * Makes a new delivery of the same event to the destination as it is now. The earlier delivery must have succeeded, failed or been cancelled.
   * Needs the permission `webhooks:retry`.
   */
  retryWebhookDeliveriesDeliveryId: {
    args: {
      deliveryId: string;
      /** The revision that was last read. */
      revision: string;
      body?: Schemas["WebhookDeliveryRetryRequest"];
    };
    data: Schemas["WebhookDeliveryResponse"]["data"];
  };
  /**
   * Create, update or delete links in bulk.
   * Each item is done on its own, in order; one that fails does not stop the others. Needs links:create, links:update or links:delete for the actions in it. Audit has an event for each change under the operation that makes it on a single link (createLinks, updateLinksLinkId, deleteLinksLinkId) and a createLinkBatches event for the batch, all with the id of this request as correlationId.
   * Needs the permission `batches:create`.
   */
  createLinkBatches: {
    args: {
      body: Schemas["BatchCreate"];
    };
    data: Schemas["AutomationJobResponse"]["data"];
  };
  /**
   * List the results of a batch.
   * Needs the permission `batches:read`.
   */
  getLinkBatchesBatchIdItems: {
    args: {
      batchId: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["BatchItemListResponse"]["data"];
    page: true;
  };
  /**
   * Export links or analytics.
   * An export has at most 1,000 records and 1 MiB; a larger one fails and is never cut. Needs links:read or analytics:read for the dataset.
   * Needs the permission `exports:create`.
   */
  createExports: {
    args: {
      body: Schemas["ExportCreate"];
    };
    data: Schemas["AutomationJobResponse"]["data"];
  };
  /**
   * Get the status of an export.
   * Needs the permission `exports:read`.
   */
  getExportsExportId: {
    args: {
      exportId: string;
    };
    data: Schemas["AutomationJobResponse"]["data"];
  };
  /**
   * Download an export as CSV or JSON.
   * Within 24 hours of the request. Needs links:read or analytics:read for the dataset.
   * Needs the permission `exports:read`.
   */
  getExportsExportIdDownload: {
    args: {
      exportId: string;
    };
    data: Blob;
  };
  /**
   * Import links from CSV or JSON.
   * Mistakes in the text, its columns or the mapping are refused here. Mistakes in a single link make its item invalid when the import is validated.
   * Needs the permission `imports:create`.
   */
  createImports: {
    args: {
      body: Schemas["ImportCreate"];
    };
    data: Schemas["AutomationJobResponse"]["data"];
  };
  /**
   * Validate an import without creating links.
   * Each item becomes valid or invalid; the answer counts both, and the items tell what is wrong. It creates and reserves nothing, and can be repeated. Needs links:create.
   * Needs the permission `imports:validate`.
   */
  validateImportsImportId: {
    args: {
      importId: string;
      /** The revision that was last read. */
      revision?: string;
      body?: Schemas["ImportValidateRequest"];
    };
    data: Schemas["ImportValidationResponse"]["data"];
  };
  /**
   * Create the links of an import.
   * Each link is created on its own; one that fails does not stop the others. Invalid items are left out and counted: with any of them the import is partially_succeeded at best. Audit has a createLinks event for each link and a commitImportsImportId event for the import, all with the id of this request as correlationId. Needs links:create.
   * Needs the permission `imports:commit`.
   */
  commitImportsImportId: {
    args: {
      importId: string;
      /** The revision that was last read. */
      revision: string;
      body?: Schemas["ImportCommitRequest"];
    };
    data: Schemas["AutomationJobResponse"]["data"];
  };
  /**
   * Get the status of an import.
   * Needs the permission `imports:read`.
   */
  getImportsImportId: {
    args: {
      importId: string;
    };
    data: Schemas["AutomationJobResponse"]["data"];
  };
  /**
   * List the results of an import.
   * format=csv returns everything as a report; limit and cursor are then not allowed.
   * Needs the permission `imports:read`.
   */
  getImportsImportIdItems: {
    args: {
      importId: string;
      format?: "json" | "csv";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["ImportItemListResponse"]["data"];
    page: true;
  };
  /**
   * Get the status of an operation.
   * Needs the permission `operations:read`.
   */
  getOperationsOperationId: {
    args: {
      operationId: string;
    };
    data: Schemas["OperationResponse"]["data"];
  };
  /**
   * Cancel an operation.
   * Work that did not start is cancelled at once; confirmed effects are not undone. A finished operation is answered unchanged.
   * Needs the permission `operations:cancel`.
   */
  cancelOperationsOperationId: {
    args: {
      operationId: string;
      /** The revision that was last read. */
      revision?: string;
      body?: Schemas["OperationCancelRequest"];
    };
    data: Schemas["OperationResponse"]["data"];
  };
  /**
   * Get click totals of a period.
   * Needs the permission `analytics:read`.
   */
  getAnalyticsSummary: {
    args: {
      appId: string;
      /** Inclusive. */
      start: string;
      /** Exclusive, at most 366 days after start. */
      end: string;
      timezone?: string;
      group?: "all" | "main" | "operational";
      linkId?: string;
      domain?: string;
      /** Empty: links without a prefix. */
      prefix?: string;
      folderId?: string;
      tagId?: string;
      /** Crawlers are counted only when bot is asked for. */
      device?: "android" | "ios" | "desktop" | "other" | "bot";
      source?: "browser" | "social" | "qr" | "app" | "unknown";
      /** ISO 3166-1 alpha-2, or ZZ for unknown. */
      country?: string;
      campaignId?: string;
    };
    data: Schemas["AnalyticsSummaryResponse"]["data"];
  };
  /**
   * Count a period by hours, days, weeks or months.
   * The buckets follow the calendar of timezone, through changes of its clocks.
   * Needs the permission `analytics:read`.
   */
  getAnalyticsTimeseries: {
    args: {
      appId: string;
      /** Inclusive. */
      start: string;
      /** Exclusive, at most 366 days after start. */
      end: string;
      timezone?: string;
      group?: "all" | "main" | "operational";
      linkId?: string;
      domain?: string;
      /** Empty: links without a prefix. */
      prefix?: string;
      folderId?: string;
      tagId?: string;
      /** Crawlers are counted only when bot is asked for. */
      device?: "android" | "ios" | "desktop" | "other" | "bot";
      source?: "browser" | "social" | "qr" | "app" | "unknown";
      /** ISO 3166-1 alpha-2, or ZZ for unknown. */
      country?: string;
      campaignId?: string;
      /** Hours are for at most 31 days; weeks begin on Monday. */
      granularity?: "hour" | "day" | "week" | "month";
    };
    data: Schemas["AnalyticsTimeseriesResponse"]["data"];
  };
  /**
   * Count a period by country, device, link and more.
   * Values with the most clicks come first. Where clicks are equal, null comes first, and the others are compared byte by byte.
   * Needs the permission `analytics:read`.
   */
  getAnalyticsBreakdown: {
    args: {
      appId: string;
      /** Inclusive. */
      start: string;
      /** Exclusive, at most 366 days after start. */
      end: string;
      timezone?: string;
      group?: "all" | "main" | "operational";
      linkId?: string;
      domain?: string;
      /** Empty: links without a prefix. */
      prefix?: string;
      folderId?: string;
      tagId?: string;
      /** Crawlers are counted only when bot is asked for. */
      device?: "android" | "ios" | "desktop" | "other" | "bot";
      source?: "browser" | "social" | "qr" | "app" | "unknown";
      /** ISO 3166-1 alpha-2, or ZZ for unknown. */
      country?: string;
      campaignId?: string;
      dimension: "country" | "device" | "source" | "os" | "browser" | "referrer" | "link" | "domain" | "prefix" | "campaign" | "folder" | "tag" | "group" | "eventType";
      eventType?: "click" | "app_open" | "content_view" | "legacy_content_load" | "recovery_created" | "recovery_matched";
      /** How many values to return. */
      limit?: number;
    };
    data: Schemas["AnalyticsBreakdownResponse"]["data"];
  };
  /**
   * List the links with the most clicks.
   * Links without a click are left out. Clicks that come in between two pages may move links from one to the other.
   * Needs the permission `analytics:read`.
   */
  getAnalyticsTopLinks: {
    args: {
      appId: string;
      /** Inclusive. */
      start: string;
      /** Exclusive, at most 366 days after start. */
      end: string;
      timezone?: string;
      group?: "all" | "main" | "operational";
      linkId?: string;
      domain?: string;
      /** Empty: links without a prefix. */
      prefix?: string;
      folderId?: string;
      tagId?: string;
      /** Crawlers are counted only when bot is asked for. */
      device?: "android" | "ios" | "desktop" | "other" | "bot";
      source?: "browser" | "social" | "qr" | "app" | "unknown";
      /** ISO 3166-1 alpha-2, or ZZ for unknown. */
      country?: string;
      campaignId?: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["AnalyticsTopLinksResponse"]["data"];
    page: true;
  };
  /**
   * List events, newest first.
   * Nothing of an event leads back to its visitor.
   * Needs the permission `analytics:read`.
   */
  getAnalyticsEvents: {
    args: {
      appId: string;
      /** Inclusive. */
      start: string;
      /** Exclusive, at most 366 days after start. */
      end: string;
      timezone?: string;
      group?: "all" | "main" | "operational";
      linkId?: string;
      domain?: string;
      /** Empty: links without a prefix. */
      prefix?: string;
      folderId?: string;
      tagId?: string;
      /** Crawlers are counted only when bot is asked for. */
      device?: "android" | "ios" | "desktop" | "other" | "bot";
      source?: "browser" | "social" | "qr" | "app" | "unknown";
      /** ISO 3166-1 alpha-2, or ZZ for unknown. */
      country?: string;
      campaignId?: string;
      eventType?: "click" | "app_open" | "content_view" | "legacy_content_load" | "recovery_created" | "recovery_matched";
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["AnalyticsEventsResponse"]["data"];
    page: true;
  };
  /**
   * Count what people did in the app.
   * These events are reported by apps, and believed as they are.
   * Needs the permission `analytics:read`.
   */
  getAnalyticsNative: {
    args: {
      appId: string;
      /** Inclusive. */
      start: string;
      /** Exclusive, at most 366 days after start. */
      end: string;
      timezone?: string;
      group?: "all" | "main" | "operational";
      linkId?: string;
      domain?: string;
      /** Empty: links without a prefix. */
      prefix?: string;
      folderId?: string;
      tagId?: string;
      /** Crawlers are counted only when bot is asked for. */
      device?: "android" | "ios" | "desktop" | "other" | "bot";
      source?: "browser" | "social" | "qr" | "app" | "unknown";
      /** ISO 3166-1 alpha-2, or ZZ for unknown. */
      country?: string;
      campaignId?: string;
    };
    data: Schemas["AnalyticsNativeResponse"]["data"];
  };
  /**
   * Count links found again after an installation.
   * Needs the permission `analytics:read`.
   */
  getAnalyticsRecovery: {
    args: {
      appId: string;
      /** Inclusive. */
      start: string;
      /** Exclusive, at most 366 days after start. */
      end: string;
      timezone?: string;
      group?: "all" | "main" | "operational";
      linkId?: string;
      domain?: string;
      /** Empty: links without a prefix. */
      prefix?: string;
      folderId?: string;
      tagId?: string;
      /** Crawlers are counted only when bot is asked for. */
      device?: "android" | "ios" | "desktop" | "other" | "bot";
      source?: "browser" | "social" | "qr" | "app" | "unknown";
      /** ISO 3166-1 alpha-2, or ZZ for unknown. */
      country?: string;
      campaignId?: string;
    };
    data: Schemas["AnalyticsRecoveryResponse"]["data"];
  };
  /**
   * Get what a campaign brought.
   * Clicks count for the campaign that their link had at the time.
   * Needs the permission `analytics:read`.
   */
  getAnalyticsCampaignsCampaignId: {
    args: {
      campaignId: string;
      appId: string;
      /** Inclusive. */
      start: string;
      /** Exclusive, at most 366 days after start. */
      end: string;
      timezone?: string;
      group?: "all" | "main" | "operational";
      linkId?: string;
      domain?: string;
      /** Empty: links without a prefix. */
      prefix?: string;
      folderId?: string;
      tagId?: string;
      /** Crawlers are counted only when bot is asked for. */
      device?: "android" | "ios" | "desktop" | "other" | "bot";
      source?: "browser" | "social" | "qr" | "app" | "unknown";
      /** ISO 3166-1 alpha-2, or ZZ for unknown. */
      country?: string;
    };
    data: Schemas["AnalyticsCampaignResponse"]["data"];
  };
  /**
   * List the permitted operations.
   * Needs the permission `capabilities:read`.
   */
  getCapabilities: {
    args: {};
    data: Schemas["CapabilitiesResponse"]["data"];
  };
  /**
   * List the permitted operations on an app.
   * Needs the permission `capabilities:read`.
   */
  getAppsAppIdCapabilities: {
    args: {
      appId: string;
    };
    data: Schemas["CapabilitiesResponse"]["data"];
  };
  /**
   * Get rate limits and usage.
   * Account counters include the owner's other apps.
   * Needs the permission `usage:read`.
   */
  getAppsAppIdUsage: {
    args: {
      appId: string;
    };
    data: Schemas["UsageReportResponse"]["data"];
  };
  /**
   * List audit events.
   * Needs the permission `audit_events:read` and a human session; API keys are refused.
   */
  getAuditEvents: {
    args: {
      appId?: string;
      operation?: string;
      resourceType?: string;
      resourceId?: string;
      actorId?: string;
      /** Inclusive. */
      from?: string;
      /** Exclusive. */
      to?: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["AuditEventListResponse"]["data"];
    page: true;
  };
  /**
   * List request logs.
   * Needs the permission `requests:read` and a human session; API keys are refused.
   */
  getRequests: {
    args: {
      appId?: string;
      operation?: string;
      status?: number;
      errorCode?: string;
      /** Inclusive. */
      from?: string;
      /** Exclusive. */
      to?: string;
      /** How many rows a page has at most. It ends before that after about 1 MiB. */
      limit?: number;
      /** pagination.nextCursor of the page before, kept for 15 minutes. */
      cursor?: string;
    };
    data: Schemas["RequestRecordListResponse"]["data"];
    page: true;
  };
}

/** How an operation is called. A form is sent as multipart; the answer that is a file has no envelope. */
export type Route = readonly [method: string, path: string, kind?: "form" | "file"];

/** How each operation of the contract is called. */
export const operations: Readonly<Record<keyof Operations, Route>> = {
  getMe: ["GET", "/me"],
  updateMe: ["PATCH", "/me"],
  getMePreferences: ["GET", "/me/preferences"],
  updateMePreferences: ["PATCH", "/me/preferences"],
  createApiKeys: ["POST", "/api-keys"],
  getApiKeys: ["GET", "/api-keys"],
  getApiKeysKeyId: ["GET", "/api-keys/{keyId}"],
  updateApiKeysKeyId: ["PATCH", "/api-keys/{keyId}"],
  deleteApiKeysKeyId: ["DELETE", "/api-keys/{keyId}"],
  rotateApiKeysKeyId: ["POST", "/api-keys/{keyId}/rotate"],
  getApps: ["GET", "/apps"],
  createApps: ["POST", "/apps"],
  getAppsAppId: ["GET", "/apps/{appId}"],
  updateAppsAppId: ["PATCH", "/apps/{appId}"],
  deleteAppsAppId: ["DELETE", "/apps/{appId}"],
  getAppsAppIdDefaults: ["GET", "/apps/{appId}/defaults"],
  setAppsAppIdDefaults: ["PUT", "/apps/{appId}/defaults"],
  getLinks: ["GET", "/links"],
  createLinks: ["POST", "/links"],
  getLinksLinkId: ["GET", "/links/{linkId}"],
  updateLinksLinkId: ["PATCH", "/links/{linkId}"],
  deleteLinksLinkId: ["DELETE", "/links/{linkId}"],
  getLinksLinkIdPublication: ["GET", "/links/{linkId}/publication"],
  resyncLinksLinkId: ["POST", "/links/{linkId}/resync"],
  duplicateLinksLinkId: ["POST", "/links/{linkId}/duplicate"],
  validateLinks: ["POST", "/links/validate"],
  getLinksAvailability: ["GET", "/links/availability"],
  previewLinksLinkId: ["POST", "/links/{linkId}/preview"],
  getLinksLinkIdHistory: ["GET", "/links/{linkId}/history"],
  getLinksLinkIdTags: ["GET", "/links/{linkId}/tags"],
  setLinksLinkIdTags: ["PUT", "/links/{linkId}/tags"],
  getLinksLinkIdRoutingRules: ["GET", "/links/{linkId}/routing-rules"],
  setLinksLinkIdRoutingRules: ["PUT", "/links/{linkId}/routing-rules"],
  getLinksLinkIdTemplateSelection: ["GET", "/links/{linkId}/template-selection"],
  setLinksLinkIdTemplateSelection: ["PUT", "/links/{linkId}/template-selection"],
  getCampaignsCampaignIdLinks: ["GET", "/campaigns/{campaignId}/links"],
  getDomains: ["GET", "/domains"],
  createDomains: ["POST", "/domains"],
  getDomainsDomainId: ["GET", "/domains/{domainId}"],
  deleteDomainsDomainId: ["DELETE", "/domains/{domainId}"],
  verifyDomainsDomainId: ["POST", "/domains/{domainId}/verify"],
  getDomainsDomainIdDiagnostics: ["GET", "/domains/{domainId}/diagnostics"],
  getDomainsDomainIdNativeConfig: ["GET", "/domains/{domainId}/native-config"],
  setDomainsDomainIdNativeConfig: ["PUT", "/domains/{domainId}/native-config"],
  getDomainsDomainIdWebConfig: ["GET", "/domains/{domainId}/web-config"],
  setDomainsDomainIdWebConfig: ["PUT", "/domains/{domainId}/web-config"],
  getDomainsDomainIdRecoveryConfig: ["GET", "/domains/{domainId}/recovery-config"],
  setDomainsDomainIdRecoveryConfig: ["PUT", "/domains/{domainId}/recovery-config"],
  getDomainsDomainIdCapabilities: ["GET", "/domains/{domainId}/capabilities"],
  getDomainOptions: ["GET", "/domain-options"],
  getDomainsDomainIdDnsRecords: ["GET", "/domains/{domainId}/dns-records"],
  createDomainsDomainIdDnsRecords: ["POST", "/domains/{domainId}/dns-records"],
  updateDomainsDomainIdDnsRecordsRecordId: ["PATCH", "/domains/{domainId}/dns-records/{recordId}"],
  deleteDomainsDomainIdDnsRecordsRecordId: ["DELETE", "/domains/{domainId}/dns-records/{recordId}"],
  getTags: ["GET", "/tags"],
  createTags: ["POST", "/tags"],
  getTagsTagId: ["GET", "/tags/{tagId}"],
  updateTagsTagId: ["PATCH", "/tags/{tagId}"],
  deleteTagsTagId: ["DELETE", "/tags/{tagId}"],
  getFolders: ["GET", "/folders"],
  createFolders: ["POST", "/folders"],
  getFoldersFolderId: ["GET", "/folders/{folderId}"],
  updateFoldersFolderId: ["PATCH", "/folders/{folderId}"],
  deleteFoldersFolderId: ["DELETE", "/folders/{folderId}"],
  getCampaigns: ["GET", "/campaigns"],
  createCampaigns: ["POST", "/campaigns"],
  getCampaignsCampaignId: ["GET", "/campaigns/{campaignId}"],
  updateCampaignsCampaignId: ["PATCH", "/campaigns/{campaignId}"],
  deleteCampaignsCampaignId: ["DELETE", "/campaigns/{campaignId}"],
  getAssets: ["GET", "/assets"],
  createAssets: ["POST", "/assets", "form"],
  getAssetsAssetId: ["GET", "/assets/{assetId}"],
  deleteAssetsAssetId: ["DELETE", "/assets/{assetId}"],
  getAppsAppIdLogo: ["GET", "/apps/{appId}/logo"],
  setAppsAppIdLogo: ["PUT", "/apps/{appId}/logo"],
  deleteAppsAppIdLogo: ["DELETE", "/apps/{appId}/logo"],
  getTemplateCatalog: ["GET", "/template-catalog"],
  getTemplateCatalogBaseIdSchema: ["GET", "/template-catalog/{baseId}/schema"],
  getTemplateChoices: ["GET", "/template-choices"],
  getTemplates: ["GET", "/templates"],
  createTemplates: ["POST", "/templates"],
  getTemplatesTemplateId: ["GET", "/templates/{templateId}"],
  updateTemplatesTemplateId: ["PATCH", "/templates/{templateId}"],
  duplicateTemplatesTemplateId: ["POST", "/templates/{templateId}/duplicate"],
  getTemplatesTemplateIdDraft: ["GET", "/templates/{templateId}/draft"],
  setTemplatesTemplateIdDraft: ["PUT", "/templates/{templateId}/draft"],
  validateTemplatesTemplateId: ["POST", "/templates/{templateId}/validate"],
  previewTemplatesTemplateId: ["POST", "/templates/{templateId}/preview"],
  getTemplatesTemplateIdVersions: ["GET", "/templates/{templateId}/versions"],
  createTemplatesTemplateIdVersions: ["POST", "/templates/{templateId}/versions"],
  getTemplatesTemplateIdVersionsVersion: ["GET", "/templates/{templateId}/versions/{version}"],
  getTemplatesTemplateIdAvailability: ["GET", "/templates/{templateId}/availability"],
  getAppsAppIdTemplateDefaults: ["GET", "/apps/{appId}/template-defaults"],
  setAppsAppIdTemplateDefaults: ["PUT", "/apps/{appId}/template-defaults"],
  getDomainsDomainIdTemplateDefaults: ["GET", "/domains/{domainId}/template-defaults"],
  setDomainsDomainIdTemplateDefaults: ["PUT", "/domains/{domainId}/template-defaults"],
  publishTemplatesTemplateId: ["POST", "/templates/{templateId}/publish"],
  restoreTemplatesTemplateId: ["POST", "/templates/{templateId}/restore"],
  getTemplatePublications: ["GET", "/template-publications"],
  getTemplatePublicationsPublicationId: ["GET", "/template-publications/{publicationId}"],
  retryTemplatePublicationsPublicationId: ["POST", "/template-publications/{publicationId}/retry"],
  getLinksLinkIdQr: ["GET", "/links/{linkId}/qr", "file"],
  getQrCodes: ["GET", "/qr-codes"],
  createQrCodes: ["POST", "/qr-codes"],
  getQrCodesQrId: ["GET", "/qr-codes/{qrId}"],
  updateQrCodesQrId: ["PATCH", "/qr-codes/{qrId}"],
  deleteQrCodesQrId: ["DELETE", "/qr-codes/{qrId}"],
  getQrCodesQrIdDownload: ["GET", "/qr-codes/{qrId}/download", "file"],
  getWebhooks: ["GET", "/webhooks"],
  createWebhooks: ["POST", "/webhooks"],
  getWebhooksWebhookId: ["GET", "/webhooks/{webhookId}"],
  updateWebhooksWebhookId: ["PATCH", "/webhooks/{webhookId}"],
  deleteWebhooksWebhookId: ["DELETE", "/webhooks/{webhookId}"],
  rotateSecretWebhooksWebhookId: ["POST", "/webhooks/{webhookId}/rotate-secret"],
  testWebhooksWebhookId: ["POST", "/webhooks/{webhookId}/test"],
  getWebhooksWebhookIdDeliveries: ["GET", "/webhooks/{webhookId}/deliveries"],
  getWebhookDeliveriesDeliveryId: ["GET", "/webhook-deliveries/{deliveryId}"],
  retryWebhookDeliveriesDeliveryId: ["POST", "/webhook-deliveries/{deliveryId}/retry"],
  createLinkBatches: ["POST", "/link-batches"],
  getLinkBatchesBatchIdItems: ["GET", "/link-batches/{batchId}/items"],
  createExports: ["POST", "/exports"],
  getExportsExportId: ["GET", "/exports/{exportId}"],
  getExportsExportIdDownload: ["GET", "/exports/{exportId}/download", "file"],
  createImports: ["POST", "/imports"],
  validateImportsImportId: ["POST", "/imports/{importId}/validate"],
  commitImportsImportId: ["POST", "/imports/{importId}/commit"],
  getImportsImportId: ["GET", "/imports/{importId}"],
  getImportsImportIdItems: ["GET", "/imports/{importId}/items"],
  getOperationsOperationId: ["GET", "/operations/{operationId}"],
  cancelOperationsOperationId: ["POST", "/operations/{operationId}/cancel"],
  getAnalyticsSummary: ["GET", "/analytics/summary"],
  getAnalyticsTimeseries: ["GET", "/analytics/timeseries"],
  getAnalyticsBreakdown: ["GET", "/analytics/breakdown"],
  getAnalyticsTopLinks: ["GET", "/analytics/top-links"],
  getAnalyticsEvents: ["GET", "/analytics/events"],
  getAnalyticsNative: ["GET", "/analytics/native"],
  getAnalyticsRecovery: ["GET", "/analytics/recovery"],
  getAnalyticsCampaignsCampaignId: ["GET", "/analytics/campaigns/{campaignId}"],
  getCapabilities: ["GET", "/capabilities"],
  getAppsAppIdCapabilities: ["GET", "/apps/{appId}/capabilities"],
  getAppsAppIdUsage: ["GET", "/apps/{appId}/usage"],
  getAuditEvents: ["GET", "/audit-events"],
  getRequests: ["GET", "/requests"],
};
