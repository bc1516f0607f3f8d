-- +goose Up

-- Keys of the visitor hash, one for each UTC day, shared by all redirectors.
-- A row goes two days after its day began: then no hash can be recomputed.
CREATE TABLE visitor_salt (
    starts_at BIGINT PRIMARY KEY,
    salt      TEXT NOT NULL
);
