-- +goose Up

-- Tables that end in a line with WITHOUT ROWID are kept in their primary key by
-- SQLite, one tree less to write; PostgreSQL does not read that line, because
-- comments nest in PostgreSQL and do not in SQLite.

-- Owners. A user is found by the issuer of its sessions and the subject there.
CREATE TABLE users (
    id              TEXT PRIMARY KEY,
    issuer          TEXT NOT NULL,
    subject         TEXT NOT NULL,
    email           TEXT,
    display_name    TEXT,
    photo_url       TEXT,
    active          BOOLEAN NOT NULL,
    revision        TEXT NOT NULL,
    selected_app_id TEXT,
    theme           TEXT NOT NULL,
    preferences_revision TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE UNIQUE INDEX users_subject ON users (issuer, subject);

-- Sessions ended before their token expires, by the digest that names them.
CREATE TABLE revoked_session (
    credential TEXT PRIMARY KEY,
    revoked_at BIGINT NOT NULL
);

-- Public keys of the local issuer; the private ones stay in data folders.
CREATE TABLE issuer_key (
    id         TEXT PRIMARY KEY,
    public_jwk TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- Values that all processes of an installation share, such as the key that
-- signs cursors.
CREATE TABLE installation (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE api_key (
    id          TEXT PRIMARY KEY,
    owner_id    TEXT NOT NULL REFERENCES users (id),
    name        TEXT NOT NULL,
    prefix      TEXT NOT NULL,
    digest      TEXT NOT NULL,
    app_ids     TEXT NOT NULL,
    permissions TEXT NOT NULL,
    expires_at  BIGINT NOT NULL,
    last_used_at BIGINT,
    revoked_at  BIGINT,
    revision    TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX api_key_digest ON api_key (digest);
CREATE INDEX api_key_list ON api_key (owner_id, created_at, id);

CREATE TABLE app (
    id              TEXT PRIMARY KEY,
    owner_id        TEXT NOT NULL REFERENCES users (id),
    name            TEXT NOT NULL,
    search          TEXT NOT NULL,
    default_domain  TEXT,
    desktop_url     TEXT,
    play_store_url  TEXT,
    app_store_url   TEXT,
    scheme          TEXT,
    android_package TEXT,
    ios_bundle_id   TEXT,
    ios_team_id     TEXT,
    logo_asset_id   TEXT,
    revision        TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX app_list ON app (owner_id, created_at, id);

CREATE TABLE domain (
    id            TEXT PRIMARY KEY,
    app_id        TEXT NOT NULL REFERENCES app (id),
    hostname      TEXT NOT NULL,
    mode          TEXT NOT NULL,
    zone_name     TEXT NOT NULL,
    ownership     TEXT NOT NULL,
    dns           TEXT NOT NULL,
    https         TEXT NOT NULL,
    links         TEXT NOT NULL,
    detached      BOOLEAN NOT NULL,
    removal_state TEXT,
    apex_profile_id TEXT,
    last_checked_at BIGINT,
    last_error    TEXT,
    revision      TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL,
    publication_status     TEXT NOT NULL,
    publication_confirmed  TEXT,
    publication_attempts   BIGINT NOT NULL,
    publication_error      TEXT,
    publication_updated_at BIGINT NOT NULL
);
-- A hostname is one domain in the whole installation, once detached it is free.
CREATE UNIQUE INDEX domain_hostname ON domain (hostname) WHERE NOT detached;
CREATE INDEX domain_list ON domain (app_id, created_at, id);

CREATE TABLE link (
    id             TEXT PRIMARY KEY,
    app_id         TEXT NOT NULL REFERENCES app (id),
    hostname       TEXT NOT NULL,
    prefix         TEXT NOT NULL,
    slug           TEXT NOT NULL,
    search         TEXT NOT NULL,
    folder_id      TEXT,
    campaign_id    TEXT,
    archived       BOOLEAN NOT NULL,
    starts_at      BIGINT,
    expires_at     BIGINT,
    max_clicks     BIGINT,
    expired_url    TEXT,
    utm            TEXT NOT NULL,
    title          TEXT,
    description    TEXT,
    image_url      TEXT,
    desktop_url    TEXT,
    play_store_url TEXT,
    app_store_url  TEXT,
    app_path       TEXT,
    parameters     TEXT NOT NULL,
    web_only       BOOLEAN NOT NULL,
    behavior       TEXT NOT NULL,
    link_group     TEXT NOT NULL,
    origin         TEXT NOT NULL,
    template_data  TEXT NOT NULL,
    template_selection TEXT NOT NULL,
    revision       TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    publication_status     TEXT NOT NULL,
    publication_confirmed  TEXT,
    publication_attempts   BIGINT NOT NULL,
    publication_error      TEXT,
    publication_updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX link_identity ON link (hostname, prefix, slug);
CREATE INDEX link_list ON link (app_id, created_at, id);
CREATE INDEX link_folder ON link (folder_id, created_at, id) WHERE folder_id IS NOT NULL;
CREATE INDEX link_campaign ON link (campaign_id, created_at, id) WHERE campaign_id IS NOT NULL;

CREATE TABLE link_tag (
    link_id TEXT NOT NULL,
    tag_id  TEXT NOT NULL,
    PRIMARY KEY (link_id, tag_id)
) /* /* */ WITHOUT ROWID -- */
;
CREATE INDEX link_tag_tag ON link_tag (tag_id, link_id);

-- History outlives its link.
CREATE TABLE link_history (
    id         TEXT NOT NULL,
    link_id    TEXT NOT NULL,
    app_id     TEXT NOT NULL,
    action     TEXT NOT NULL,
    fields     TEXT NOT NULL,
    revision   TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (app_id, link_id, created_at, id)
) /* /* */ WITHOUT ROWID -- */
;

-- What the redirector reads. path '' is the hostname itself.
CREATE TABLE route (
    hostname TEXT NOT NULL,
    path     TEXT NOT NULL,
    owner    TEXT NOT NULL,
    revision TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (hostname, path)
) /* /* */ WITHOUT ROWID -- */
;
CREATE TABLE route_change (
    seq        BIGINT PRIMARY KEY,
    hostname   TEXT NOT NULL,
    path       TEXT NOT NULL,
    changed_at BIGINT NOT NULL
) /* /* */ WITHOUT ROWID -- */
;
CREATE INDEX route_change_age ON route_change (changed_at);

-- Counters that must not skip or repeat; taking one holds its row until commit.
CREATE TABLE sequence (
    name  TEXT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO sequence (name, value) VALUES ('route_change', 0);

-- run_after is when a job may be claimed: its start, the end of a wait, or the
-- end of the lease of whoever claimed it.
CREATE TABLE job (
    id          TEXT PRIMARY KEY,
    kind        TEXT NOT NULL,
    payload     TEXT NOT NULL,
    app_id      TEXT,
    owner_id    TEXT,
    credential  TEXT,
    lease_no    BIGINT NOT NULL,
    attempts    BIGINT NOT NULL,
    run_after   BIGINT NOT NULL,
    created_at  BIGINT NOT NULL
) /* /* */ WITHOUT ROWID -- */
;
CREATE INDEX job_ready ON job (run_after, id);

CREATE TABLE operation (
    id         TEXT PRIMARY KEY,
    app_id     TEXT NOT NULL,
    owner_id   TEXT NOT NULL,
    type       TEXT NOT NULL,
    status     TEXT NOT NULL,
    result     TEXT,
    error      TEXT,
    revision   TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX operation_app ON operation (app_id, status);

CREATE TABLE outbox (
    id          TEXT NOT NULL,
    app_id      TEXT NOT NULL,
    type        TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    revision    TEXT NOT NULL,
    occurred_at BIGINT NOT NULL,
    PRIMARY KEY (occurred_at, id)
) /* /* */ WITHOUT ROWID -- */
;

CREATE TABLE audit_event (
    id             TEXT NOT NULL,
    owner_id       TEXT NOT NULL,
    operation      TEXT NOT NULL,
    actor_type     TEXT NOT NULL,
    actor_id       TEXT NOT NULL,
    app_id         TEXT,
    resource_type  TEXT NOT NULL,
    resource_id    TEXT NOT NULL,
    revision       TEXT,
    correlation_id TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    PRIMARY KEY (owner_id, created_at, id)
) /* /* */ WITHOUT ROWID -- */
;
CREATE INDEX audit_event_resource ON audit_event (resource_id);

CREATE TABLE request_record (
    id          TEXT NOT NULL,
    owner_id    TEXT NOT NULL,
    operation   TEXT NOT NULL,
    method      TEXT NOT NULL,
    route       TEXT NOT NULL,
    status      BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    error_code  TEXT,
    actor_type  TEXT NOT NULL,
    actor_id    TEXT NOT NULL,
    app_id      TEXT,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (owner_id, created_at, id)
) /* /* */ WITHOUT ROWID -- */
;

CREATE TABLE receipt (
    credential  TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    app_id      TEXT,
    resource_id TEXT,
    status      BIGINT NOT NULL,
    header      TEXT NOT NULL,
    body        TEXT NOT NULL,
    has_secret  BOOLEAN NOT NULL,
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (credential, key)
);
CREATE INDEX receipt_age ON receipt (expires_at);

-- Rate windows, where several processes share them.
CREATE TABLE rate_window (
    bucket   TEXT NOT NULL,
    starts_at BIGINT NOT NULL,
    used     BIGINT NOT NULL,
    PRIMARY KEY (bucket, starts_at)
);
CREATE INDEX rate_window_age ON rate_window (starts_at);
