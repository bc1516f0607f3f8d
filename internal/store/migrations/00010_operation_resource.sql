-- +goose Up

-- What an operation works on: a domain, an export, a batch or an import.
ALTER TABLE operation ADD COLUMN resource_id TEXT;
UPDATE operation SET resource_id = (SELECT MIN(id) FROM automation_job WHERE operation_id = operation.id) WHERE type IN ('batch', 'import', 'export');
DROP INDEX automation_job_operation;

-- The payload of a job that creates a domain was "<operation id> <domain id>"; now
-- it is the operation's id, as that of any other. What was left to do for an
-- operation that was cancelled is done once its cancellation is observed.
UPDATE operation SET resource_id = (SELECT MIN(SUBSTR(payload, 38)) FROM job WHERE kind = 'domain.create' AND SUBSTR(payload, 1, 36) = operation.id)
    WHERE id IN (SELECT SUBSTR(payload, 1, 36) FROM job WHERE kind = 'domain.create');
UPDATE operation SET status = 'cancel_requested'
    WHERE status = 'cancelled' AND id IN (SELECT SUBSTR(payload, 1, 36) FROM job WHERE kind = 'domain.create');
UPDATE job SET payload = SUBSTR(payload, 1, 36) WHERE kind = 'domain.create';
