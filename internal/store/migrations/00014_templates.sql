-- +goose Up

-- Page templates. The draft is the template's own; draft_logo is the image that it
-- shows, and draft_base_version the version that it was last equal to. last_version
-- is the number of the newest version, 0 for none.
CREATE TABLE template (
    id                 TEXT PRIMARY KEY,
    app_id             TEXT NOT NULL REFERENCES app (id),
    name               TEXT NOT NULL,
    base               TEXT NOT NULL,
    archived           BOOLEAN NOT NULL,
    last_version       BIGINT NOT NULL,
    revision           TEXT NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL,
    draft              TEXT NOT NULL,
    draft_logo         TEXT,
    draft_revision     TEXT NOT NULL,
    draft_base_version BIGINT,
    draft_updated_at   BIGINT NOT NULL
);
CREATE INDEX template_list ON template (app_id, created_at, id, archived);
CREATE INDEX template_draft_logo ON template (draft_logo) WHERE draft_logo IS NOT NULL;

-- Versions are never changed. logo is the image that the version shows.
CREATE TABLE template_version (
    template_id TEXT NOT NULL REFERENCES template (id),
    version     BIGINT NOT NULL,
    app_id      TEXT NOT NULL,
    config      TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    logo        TEXT,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (template_id, version)
);
CREATE INDEX template_version_list ON template_version (app_id, created_at, template_id, version);
CREATE INDEX template_version_logo ON template_version (logo) WHERE logo IS NOT NULL;

-- What the redirector needs of a version; a version that is not here is prepared,
-- one that is here is available.
CREATE TABLE route_template (
    template_id TEXT NOT NULL,
    version     BIGINT NOT NULL,
    document    TEXT NOT NULL,
    PRIMARY KEY (template_id, version)
) /* /* */ WITHOUT ROWID -- */
;

-- The templates that an app or a domain chose, as JSON; NULL until first set. Those
-- of a link are in link.template_selection; link_template finds the links of a
-- template.
ALTER TABLE app ADD COLUMN template_defaults TEXT;
ALTER TABLE domain ADD COLUMN template_defaults TEXT;
CREATE TABLE link_template (
    template_id TEXT NOT NULL,
    link_id     TEXT NOT NULL,
    PRIMARY KEY (template_id, link_id)
) /* /* */ WITHOUT ROWID -- */
;
CREATE INDEX link_template_link ON link_template (link_id);

-- Publications of a version, or of another choice, to up to 50 targets. holder is the
-- app, the domain or the link of a target.
CREATE TABLE template_publication (
    id                 TEXT PRIMARY KEY,
    app_id             TEXT NOT NULL,
    template_id        TEXT NOT NULL,
    action             TEXT NOT NULL,
    base               TEXT NOT NULL,
    mode               TEXT NOT NULL,
    version            BIGINT,
    state              TEXT NOT NULL,
    phase              TEXT NOT NULL,
    error              TEXT,
    revision           TEXT NOT NULL,
    created_at         BIGINT NOT NULL,
    updated_at         BIGINT NOT NULL
);
CREATE INDEX template_publication_list ON template_publication (app_id, created_at, id);
CREATE INDEX template_publication_template ON template_publication (template_id);
CREATE TABLE template_publication_target (
    publication_id    TEXT NOT NULL REFERENCES template_publication (id) ON DELETE CASCADE,
    ordinal           BIGINT NOT NULL,
    scope             TEXT NOT NULL,
    holder            TEXT NOT NULL,
    base              TEXT NOT NULL,
    expected_revision TEXT,
    expected_link_revision TEXT,
    state             TEXT NOT NULL,
    error             TEXT,
    applied_revision  TEXT,
    PRIMARY KEY (publication_id, ordinal)
);
CREATE INDEX template_publication_pending ON template_publication_target (holder, base) WHERE state = 'pending';

-- A logo as pages carry it: a data URI of a few kilobytes; NULL until it is made.
ALTER TABLE asset ADD COLUMN icon TEXT;
CREATE INDEX asset_iconless ON asset (id) WHERE icon IS NULL AND state = 'active';

-- Recovery tokens that were used, by their digest, until they would have expired.
CREATE TABLE recovery_used (
    token      TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
) /* /* */ WITHOUT ROWID -- */
;
CREATE INDEX recovery_used_age ON recovery_used (expires_at);

-- Apps name links by their id.
CREATE INDEX route_owner ON route (owner);

-- Hostnames and links are published again, with what opens their app. The kinds are
-- new, so that no earlier program does these jobs. Hostnames, prefixes and slugs need
-- no escapes in JSON.
INSERT INTO job (id, kind, payload, app_id, lease_no, attempts, run_after, created_at)
    SELECT 'migration-14-' || id, 'domain.republish', id, app_id, 0, 0, updated_at, updated_at
    FROM domain WHERE NOT detached AND publication_confirmed IS NOT NULL;
INSERT INTO job (id, kind, payload, app_id, lease_no, attempts, run_after, created_at)
    SELECT 'migration-14-' || id, 'link.republish',
        '{"linkId":"' || id || '","hostname":"' || hostname || '","prefix":"' || prefix || '","slug":"' || slug || '"}',
        app_id, 0, 0, updated_at, updated_at
    FROM link WHERE app_path IS NOT NULL OR parameters <> '{}' OR template_selection LIKE '%"official"%';
