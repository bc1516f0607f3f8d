-- +goose Up

-- Analytics, as a star: an event is numbers, and what repeats is written once
-- beside it. A number is given once and for good.
CREATE TABLE event_app (
    no     INTEGER PRIMARY KEY,
    app_id TEXT NOT NULL
);
CREATE UNIQUE INDEX event_app_id ON event_app (app_id);

-- A state of a link: a changed link is a new row. digest is over all of it.
-- tag_ids is ",id,id,", or empty.
CREATE TABLE event_link (
    no          INTEGER PRIMARY KEY,
    digest      TEXT NOT NULL,
    app_no      INTEGER NOT NULL,
    link_id     TEXT NOT NULL,
    hostname    TEXT NOT NULL,
    prefix      TEXT NOT NULL,
    slug        TEXT NOT NULL,
    link_group  TEXT NOT NULL,
    campaign_id TEXT NOT NULL,
    folder_id   TEXT NOT NULL,
    tag_ids     TEXT NOT NULL
);
CREATE UNIQUE INDEX event_link_digest ON event_link (digest);
CREATE INDEX event_link_app ON event_link (app_no);

CREATE TABLE event_client (
    no      INTEGER PRIMARY KEY,
    device  TEXT NOT NULL,
    os      TEXT NOT NULL,
    browser TEXT NOT NULL,
    source  TEXT NOT NULL
);
CREATE UNIQUE INDEX event_client_values ON event_client (device, os, browser, source);

-- Referrer hosts and rule ids. Number 0 is the empty text and has no row.
CREATE TABLE event_text (
    no    INTEGER PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE UNIQUE INDEX event_text_value ON event_text (value);

-- The order of columns costs PostgreSQL no padding.
CREATE TABLE event (
    at          BIGINT NOT NULL,
    id          BIGINT NOT NULL,
    visitor     BIGINT NOT NULL,
    install     BIGINT NOT NULL,
    app_no      INTEGER NOT NULL,
    link_no     INTEGER NOT NULL,
    client_no   INTEGER NOT NULL,
    referrer_no INTEGER NOT NULL,
    rule_no     INTEGER NOT NULL,
    type        SMALLINT NOT NULL,
    destination SMALLINT NOT NULL,
    country     TEXT NOT NULL,
    PRIMARY KEY (app_no, at, id)
) /* /* */ WITHOUT ROWID -- */
;
