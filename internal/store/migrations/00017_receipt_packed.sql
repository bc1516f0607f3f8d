-- +goose Up

-- The body compressed, in place of body, where it is large.
ALTER TABLE receipt ADD COLUMN packed BYTEA;
