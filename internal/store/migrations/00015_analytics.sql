-- +goose Up

-- How far each click log is loaded: all of a file's records that end at or before
-- the position, and all files with a smaller number. What a loader brings again is
-- recognised by it. log is the name of the folder of a process's log.
CREATE TABLE event_loaded (
    log        TEXT PRIMARY KEY,
    file       BIGINT NOT NULL,
    position   BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX event_loaded_age ON event_loaded (updated_at);

-- The segments that make up the engine of that name. A segment is a Parquet file
-- that never changes: in data while it is young, else in the segment store under
-- <id>.parquet. first_at and last_at are those of its events, both inclusive.
CREATE TABLE event_segment (
    id         TEXT PRIMARY KEY,
    first_at   BIGINT NOT NULL,
    last_at    BIGINT NOT NULL,
    events     BIGINT NOT NULL,
    bytes      BIGINT NOT NULL,
    sha256     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    data       BYTEA
);
CREATE INDEX event_segment_first ON event_segment (first_at);
CREATE INDEX event_segment_last ON event_segment (last_at);

-- Files of the segment store that are to be deleted when they are due: those that
-- were replaced, once no reader can have them any more, and those that somebody is
-- about to write, in case that writer does not live to see them in event_segment.
CREATE TABLE event_garbage (
    segment_id TEXT PRIMARY KEY,
    due_at     BIGINT NOT NULL
);
CREATE INDEX event_garbage_due ON event_garbage (due_at);

-- Clicks of a flood: counted here, by the UTC day, and not stored as events.
CREATE TABLE event_unstored (
    app_id TEXT NOT NULL,
    day    INTEGER NOT NULL,
    clicks BIGINT NOT NULL,
    PRIMARY KEY (app_id, day)
);
CREATE INDEX event_unstored_day ON event_unstored (day);

-- What a link looked like last, and what is to be erased with it.
CREATE INDEX event_link_id ON event_link (link_id, app_no, no);

-- A cache of the link states of an app reads those above a number.
DROP INDEX event_link_app;
CREATE INDEX event_link_app ON event_link (app_no, no);
