-- +goose Up

-- The last UTC day, counted from 1970, on which an event with the text was added; 0 where
-- it is not known. A text that is older than all events goes.
ALTER TABLE event_text ADD COLUMN used_on BIGINT NOT NULL DEFAULT 0;
CREATE INDEX event_text_used_on ON event_text (used_on);
