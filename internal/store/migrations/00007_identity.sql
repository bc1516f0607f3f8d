-- +goose Up

-- The first key of a chain of rotations, NULL for a key that replaces none: all
-- keys of a chain share the rate windows of the first.
ALTER TABLE api_key ADD COLUMN first_id TEXT;

-- Addresses are compared without their case; an owner without a name has the
-- address for one.
UPDATE users SET email = LOWER(email);
UPDATE users SET display_name = email WHERE display_name IS NULL AND LENGTH(email) BETWEEN 1 AND 100;
CREATE INDEX users_email ON users (email);

-- Sessions that were issued here or accepted, by the digest that names them, so
-- that they can be listed and ended. expires_at is the end of the last token
-- that was seen of the session. A row is kept until remove_at.
CREATE TABLE session (
    credential TEXT PRIMARY KEY,
    user_id    TEXT REFERENCES users (id),
    issued_at  BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    ended_at   BIGINT,
    remove_at  BIGINT NOT NULL
);
CREATE INDEX session_owner ON session (user_id, expires_at);
CREATE INDEX session_age ON session (remove_at);
-- Ended sessions of earlier versions, whose owners nobody wrote down, are kept
-- for 400 days. Processes of the version before still read their table, which
-- therefore stays.
INSERT INTO session (credential, issued_at, expires_at, ended_at, remove_at)
    SELECT credential, revoked_at, revoked_at, revoked_at, revoked_at + 34560000000000 FROM revoked_session;

-- The first token of the issuer with this verified e-mail address makes its
-- subject an owner.
CREATE TABLE invitation (
    issuer     TEXT NOT NULL,
    email      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, email)
);
