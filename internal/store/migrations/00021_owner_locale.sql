-- +goose Up

-- How the dashboard writes instants and numbers for an owner. NULL: as the browser does.
ALTER TABLE users ADD COLUMN timezone TEXT;
ALTER TABLE users ADD COLUMN locale TEXT;
