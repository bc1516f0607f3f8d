-- +goose Up

-- All records of one name and type of a managed domain, as the DNS provider knows
-- them: it changes sets, not records. One without records is to be removed there.
-- known are the contents that the set has by the installation's own doing, as JSON:
-- the last that was confirmed, then those that were tried since. observed is what
-- the provider had at the last look. job_id is the job that applies the set; NULL
-- means that it was applied or given up, and checked_at when that was.
CREATE TABLE dns_record_set (
    id         TEXT PRIMARY KEY,
    domain_id  TEXT NOT NULL REFERENCES domain (id) ON DELETE CASCADE,
    fqdn       TEXT NOT NULL,
    type       TEXT NOT NULL,
    ttl        BIGINT NOT NULL,
    known      TEXT NOT NULL,
    status     TEXT NOT NULL,
    observed   TEXT NOT NULL,
    last_error TEXT,
    job_id     TEXT,
    checked_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX dns_record_set_name ON dns_record_set (fqdn, type, domain_id);
CREATE INDEX dns_record_set_domain ON dns_record_set (domain_id);
CREATE INDEX dns_record_set_check ON dns_record_set (checked_at) WHERE job_id IS NULL;

CREATE TABLE dns_record (
    id         TEXT PRIMARY KEY,
    domain_id  TEXT NOT NULL REFERENCES domain (id) ON DELETE CASCADE,
    set_id     TEXT NOT NULL REFERENCES dns_record_set (id) ON DELETE CASCADE,
    value      TEXT NOT NULL,
    priority   BIGINT,
    system     BOOLEAN NOT NULL,
    revision   TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX dns_record_list ON dns_record (domain_id, created_at, id);
CREATE INDEX dns_record_set_id ON dns_record (set_id);
