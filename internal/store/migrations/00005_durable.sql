-- +goose Up

-- The request that started an operation: audit names it for every effect.
ALTER TABLE operation ADD COLUMN correlation_id TEXT;
CREATE INDEX operation_age ON operation (updated_at);

-- What exports, batches and imports share. request is what the kind needs to
-- know besides its items.
CREATE TABLE automation_job (
    id           TEXT PRIMARY KEY,
    app_id       TEXT NOT NULL,
    kind         TEXT NOT NULL,
    state        TEXT NOT NULL,
    operation_id TEXT,
    request      TEXT NOT NULL,
    total        BIGINT NOT NULL,
    succeeded    BIGINT NOT NULL,
    failed       BIGINT NOT NULL,
    revision     TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    remove_at    BIGINT NOT NULL
);
CREATE INDEX automation_job_app ON automation_job (app_id, created_at, id);
CREATE INDEX automation_job_operation ON automation_job (operation_id) WHERE operation_id IS NOT NULL;
CREATE INDEX automation_job_age ON automation_job (remove_at);

CREATE TABLE automation_item (
    job_id    TEXT NOT NULL,
    ordinal   BIGINT NOT NULL,
    client_id TEXT NOT NULL,
    action    TEXT NOT NULL,
    link_id   TEXT,
    revision  TEXT,
    input     TEXT,
    state     TEXT NOT NULL,
    result    TEXT,
    error     TEXT,
    PRIMARY KEY (job_id, ordinal)
) /* /* */ WITHOUT ROWID -- */
;

-- The file that an export made, while it can be downloaded.
CREATE TABLE automation_file (
    job_id     TEXT PRIMARY KEY,
    content    TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX automation_file_age ON automation_file (expires_at);

-- With what a claim looks at: apps take turns among many due jobs, and none of
-- their rows is read for that.
DROP INDEX job_ready;
CREATE INDEX job_ready ON job (run_after, id, kind, app_id);
