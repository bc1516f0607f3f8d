-- +goose Up

-- How far each click log is in click_count, as event_loaded has it for analytics: one row
-- for each log in place of one for each click. The last clicks of a process that was killed
-- between counting and giving them up may be counted once more.
CREATE TABLE click_loaded (
    log        TEXT PRIMARY KEY,
    file       BIGINT NOT NULL,
    position   BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX click_loaded_age ON click_loaded (updated_at);
DROP TABLE click_counted;
