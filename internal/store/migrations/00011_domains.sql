-- +goose Up

-- When the app proved that the hostname is its own for the first time; NULL means
-- never. Whoever proved it keeps the hostname until the domain is detached.
ALTER TABLE domain ADD COLUMN verified_at BIGINT;
UPDATE domain SET verified_at = created_at WHERE ownership = 'verified';
-- What the owner puts into the DNS as proof; NULL for platform domains.
ALTER TABLE domain ADD COLUMN challenge TEXT;
-- The configurations as JSON; NULL until first set.
ALTER TABLE domain ADD COLUMN native_config TEXT;
ALTER TABLE domain ADD COLUMN web_config TEXT;
ALTER TABLE domain ADD COLUMN recovery_config TEXT;
-- What the last verification saw, as JSON.
ALTER TABLE domain ADD COLUMN verification TEXT;
-- Failed checks in a row of a domain that worked, and when the first of them was.
ALTER TABLE domain ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
ALTER TABLE domain ADD COLUMN failing_since BIGINT;
-- When the domain is checked again; NULL means never.
ALTER TABLE domain ADD COLUMN next_check_at BIGINT;

-- Anybody may claim a hostname; one domain of the installation can prove it.
DROP INDEX domain_hostname;
CREATE UNIQUE INDEX domain_hostname ON domain (hostname) WHERE NOT detached AND verified_at IS NOT NULL;
CREATE UNIQUE INDEX domain_claim ON domain (hostname, app_id) WHERE NOT detached;
CREATE INDEX domain_check ON domain (next_check_at) WHERE next_check_at IS NOT NULL;
