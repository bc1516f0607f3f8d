-- +goose Up

-- What organizes links. Names are unique in an app, ignoring case: name_key is
-- the folded name. search is the folded text that lists look in.
CREATE TABLE tag (
    id          TEXT PRIMARY KEY,
    app_id      TEXT NOT NULL REFERENCES app (id),
    name        TEXT NOT NULL,
    name_key    TEXT NOT NULL,
    search      TEXT NOT NULL,
    description TEXT,
    archived    BOOLEAN NOT NULL,
    utm         TEXT NOT NULL,
    revision    TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX tag_name ON tag (app_id, name_key);
CREATE INDEX tag_list ON tag (app_id, created_at, id);

CREATE TABLE folder (
    id          TEXT PRIMARY KEY,
    app_id      TEXT NOT NULL REFERENCES app (id),
    name        TEXT NOT NULL,
    name_key    TEXT NOT NULL,
    search      TEXT NOT NULL,
    description TEXT,
    archived    BOOLEAN NOT NULL,
    revision    TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX folder_name ON folder (app_id, name_key);
CREATE INDEX folder_list ON folder (app_id, created_at, id);

CREATE TABLE campaign (
    id          TEXT PRIMARY KEY,
    app_id      TEXT NOT NULL REFERENCES app (id),
    name        TEXT NOT NULL,
    name_key    TEXT NOT NULL,
    search      TEXT NOT NULL,
    description TEXT,
    archived    BOOLEAN NOT NULL,
    utm         TEXT NOT NULL,
    starts_at   BIGINT,
    ends_at     BIGINT,
    revision    TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX campaign_name ON campaign (app_id, name_key);
CREATE INDEX campaign_list ON campaign (app_id, created_at, id);

-- link_created_at is the link's: a tag's links in their order need no sort.
DROP TABLE link_tag;
CREATE TABLE link_tag (
    tag_id          TEXT NOT NULL,
    link_created_at BIGINT NOT NULL,
    link_id         TEXT NOT NULL,
    PRIMARY KEY (tag_id, link_created_at, link_id)
) /* /* */ WITHOUT ROWID -- */
;
CREATE INDEX link_tag_link ON link_tag (link_id, tag_id);

-- routing_rules is a JSON array in the order of the match. image_asset_id is
-- the asset that image_url shows, when it is one of ours. used_up tells that
-- max_clicks is reached; whoever counts the clicks keeps it.
ALTER TABLE link ADD COLUMN routing_rules TEXT NOT NULL DEFAULT '[]';
ALTER TABLE link ADD COLUMN image_asset_id TEXT;
ALTER TABLE link ADD COLUMN used_up BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX link_image_asset ON link (image_asset_id) WHERE image_asset_id IS NOT NULL;

-- Every filter of a list can be answered from link_list alone, so that a rare
-- match in many links reads no row of them; link_search has the text as well,
-- on SQLite alone: PostgreSQL bounds an index entry below the longest text.
DROP INDEX link_list;
CREATE INDEX link_list ON link (app_id, created_at, id, archived, starts_at, expires_at, used_up, link_group, origin, hostname, prefix, folder_id, campaign_id);
-- +goose StatementBegin
/* /* */ CREATE INDEX link_search ON link (app_id, created_at, id, archived, starts_at, expires_at, used_up, link_group, origin, hostname, prefix, folder_id, campaign_id, search) -- */
-- +goose StatementEnd
DROP INDEX link_folder;
CREATE INDEX link_folder ON link (folder_id, created_at, id) WHERE folder_id IS NOT NULL;
DROP INDEX link_campaign;
CREATE INDEX link_campaign ON link (campaign_id, created_at, id) WHERE campaign_id IS NOT NULL;

-- Human clicks of links with maxClicks. click_counted tells which events are
-- in the sum, so that one that comes again is not counted twice.
CREATE TABLE click_count (
    link_id TEXT PRIMARY KEY,
    clicks  BIGINT NOT NULL
) /* /* */ WITHOUT ROWID -- */
;
CREATE TABLE click_counted (
    link_id TEXT NOT NULL,
    at      BIGINT NOT NULL,
    id      BIGINT NOT NULL,
    PRIMARY KEY (link_id, at, id)
) /* /* */ WITHOUT ROWID -- */
;
CREATE INDEX click_counted_age ON click_counted (at);

-- Images. state is storing while the bytes are on their way into the asset
-- store, then active, then deleting until they are gone. credential and
-- intent_key name the upload, so that repeating it finds the same object.
CREATE TABLE asset (
    id           TEXT PRIMARY KEY,
    app_id       TEXT NOT NULL,
    object       TEXT NOT NULL,
    content_type TEXT NOT NULL,
    byte_size    BIGINT NOT NULL,
    sha256       TEXT NOT NULL,
    width        BIGINT NOT NULL,
    height       BIGINT NOT NULL,
    state        TEXT NOT NULL,
    credential   TEXT NOT NULL,
    intent_key   TEXT NOT NULL,
    revision     TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX asset_object ON asset (object);
CREATE INDEX asset_intent ON asset (credential, intent_key) WHERE state = 'storing';
CREATE INDEX asset_list ON asset (app_id, state, created_at, id);
CREATE INDEX asset_unfinished ON asset (updated_at) WHERE state <> 'active';
CREATE INDEX app_logo_asset ON app (logo_asset_id) WHERE logo_asset_id IS NOT NULL;

CREATE TABLE qr_code (
    id               TEXT PRIMARY KEY,
    app_id           TEXT NOT NULL REFERENCES app (id),
    link_id          TEXT NOT NULL,
    name             TEXT NOT NULL,
    search           TEXT NOT NULL,
    format           TEXT NOT NULL,
    size             BIGINT NOT NULL,
    margin           BIGINT NOT NULL,
    foreground       TEXT NOT NULL,
    background       TEXT NOT NULL,
    error_correction TEXT NOT NULL,
    logo_asset_id    TEXT,
    revision         TEXT NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL
);
CREATE INDEX qr_code_list ON qr_code (app_id, created_at, id);
CREATE INDEX qr_code_link ON qr_code (link_id, created_at, id);
CREATE INDEX qr_code_logo ON qr_code (logo_asset_id) WHERE logo_asset_id IS NOT NULL;

-- The history of a link that is gone is found through its hostname.
CREATE INDEX domain_any_hostname ON domain (hostname);
