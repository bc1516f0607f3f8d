-- +goose Up

-- Sessions of browsers stand beside those of tokens. Of such a session the digest of the
-- secret in its cookie is kept, what the browser calls itself, and when it was last used;
-- all are NULL for sessions of tokens, which are known by their credential.
ALTER TABLE session ADD COLUMN digest TEXT;
ALTER TABLE session ADD COLUMN name TEXT;
ALTER TABLE session ADD COLUMN used_at BIGINT;
CREATE UNIQUE INDEX session_digest ON session (digest) WHERE digest IS NOT NULL;

-- Addresses that sign in once, by the digest of their code. Without a user_id, the local
-- owner with the e-mail address is made when the address is used.
CREATE TABLE sign_in_link (
    digest     TEXT PRIMARY KEY,
    user_id    TEXT REFERENCES users (id),
    email      TEXT,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sign_in_link_age ON sign_in_link (expires_at);

-- Passkeys of owners. credential is what package webauthn keeps of one, as JSON: its
-- public key, its counter and how it was made. credential_id is the part of it by which
-- browsers name it.
CREATE TABLE passkey (
    id            TEXT PRIMARY KEY,
    user_id       TEXT NOT NULL REFERENCES users (id),
    credential_id TEXT NOT NULL,
    credential    TEXT NOT NULL,
    name          TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    used_at       BIGINT
);
CREATE UNIQUE INDEX passkey_credential ON passkey (credential_id);
CREATE INDEX passkey_owner ON passkey (user_id, created_at, id);

-- Ceremonies with passkeys that wait for the browser's answer, by the digest of the name
-- that the browser got. challenge is what its answer is compared with, as JSON; user_id is
-- whose passkey is being made, NULL where somebody signs in.
CREATE TABLE passkey_ceremony (
    digest     TEXT PRIMARY KEY,
    user_id    TEXT REFERENCES users (id),
    challenge  TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX passkey_ceremony_age ON passkey_ceremony (expires_at);
CREATE INDEX passkey_ceremony_owner ON passkey_ceremony (user_id, expires_at);
