-- +goose Up

-- How many items of an import are not tried because their data is invalid.
ALTER TABLE automation_job ADD COLUMN invalid BIGINT NOT NULL DEFAULT 0;
UPDATE automation_job SET invalid = (SELECT COUNT(*) FROM automation_item WHERE job_id = automation_job.id AND state = 'invalid') WHERE kind = 'import';
