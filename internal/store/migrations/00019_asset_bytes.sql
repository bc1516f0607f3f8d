-- +goose Up

-- What the images of an account take is summed before another one is added.
CREATE INDEX asset_bytes ON asset (app_id, byte_size);
