-- +goose Up

-- What the ACME client keeps: the account, certificates with their private keys, and
-- what it knows of them. Keys are paths, as bytes, so that both engines sort them alike.
CREATE TABLE certificate_file (
    key         BYTEA PRIMARY KEY,
    value       BYTEA NOT NULL,
    modified_at BIGINT NOT NULL,
    -- Set for certificates alone: the hostname or wildcard, when it expires, and when
    -- the sweep looks at it again, normally to renew it.
    subject     TEXT,
    not_after   BIGINT,
    renew_at    BIGINT
);
CREATE INDEX certificate_renew ON certificate_file (renew_at) WHERE renew_at IS NOT NULL;
CREATE INDEX certificate_expiry ON certificate_file (not_after) WHERE not_after IS NOT NULL;

-- A lock belongs to its holder until its lease ends.
CREATE TABLE certificate_lock (
    name        TEXT PRIMARY KEY,
    holder      TEXT NOT NULL,
    lease_until BIGINT NOT NULL
);

-- Questions of the certificate authority that wait for its visit. Whichever process it
-- visits answers.
CREATE TABLE certificate_challenge (
    kind              TEXT NOT NULL,
    hostname          TEXT NOT NULL,
    token             TEXT NOT NULL,
    key_authorization TEXT NOT NULL,
    expires_at        BIGINT NOT NULL,
    PRIMARY KEY (kind, hostname)
);

-- Subjects whose last order failed, and when the next one may be made.
CREATE TABLE certificate_failure (
    subject   TEXT PRIMARY KEY,
    failures  BIGINT NOT NULL,
    code      TEXT NOT NULL,
    message   TEXT NOT NULL,
    failed_at BIGINT NOT NULL,
    retry_at  BIGINT NOT NULL
);

-- Keys of TLS session tickets, one for each UTC day, shared by all processes.
CREATE TABLE session_ticket_key (
    starts_at BIGINT PRIMARY KEY,
    key       TEXT NOT NULL
);

-- The hostnames that are served, which every redirector keeps in memory.
CREATE INDEX route_host ON route (hostname) WHERE path = '';
