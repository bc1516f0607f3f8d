-- +goose Up

-- The last entry in the history of a link that is gone has the action deleted.
-- Through it the history is found, listed among what is left of an app, and
-- purged after its retention.
CREATE INDEX link_history_gone ON link_history (link_id) WHERE action = 'deleted';
CREATE INDEX link_history_gone_app ON link_history (app_id, created_at, link_id) WHERE action = 'deleted';
CREATE INDEX link_history_gone_age ON link_history (created_at, link_id) WHERE action = 'deleted';
DROP INDEX domain_any_hostname;

-- Once removed a domain does not change: updated_at is when it was removed.
CREATE INDEX domain_removed ON domain (updated_at) WHERE removal_state = 'removed';
