-- +goose Up

-- Events go to the destinations of their moment, as deliveries; an event that
-- nobody waits for is no row.
DROP TABLE outbox;

-- hold tells why nothing is sent to an enabled destination: suspended or
-- authorization_required. The secret is stored as it is: a signature needs it.
-- owner_id, credential and authorized_until are the grant that sends need.
CREATE TABLE webhook (
    id                   TEXT PRIMARY KEY,
    app_id               TEXT NOT NULL REFERENCES app (id),
    url                  TEXT NOT NULL,
    events               TEXT NOT NULL,
    description          TEXT,
    enabled              BOOLEAN NOT NULL,
    hold                 TEXT,
    consecutive_failures BIGINT NOT NULL,
    last_success_at      BIGINT,
    last_failure_at      BIGINT,
    secret               TEXT NOT NULL,
    previous_secret      TEXT,
    previous_until       BIGINT,
    owner_id             TEXT NOT NULL,
    credential           TEXT NOT NULL,
    authorizer_type      TEXT NOT NULL,
    authorizer_id        TEXT NOT NULL,
    authorized_until     BIGINT NOT NULL,
    revision             TEXT NOT NULL,
    created_at           BIGINT NOT NULL,
    updated_at           BIGINT NOT NULL,
    deleted_at           BIGINT
);
CREATE INDEX webhook_list ON webhook (app_id, created_at, id);
CREATE INDEX webhook_deleted ON webhook (deleted_at) WHERE deleted_at IS NOT NULL;

-- Which enabled destinations an event of an app goes to.
CREATE TABLE webhook_subscription (
    app_id     TEXT NOT NULL,
    type       TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    PRIMARY KEY (app_id, type, webhook_id)
) /* /* */ WITHOUT ROWID -- */
;
CREATE INDEX webhook_subscription_webhook ON webhook_subscription (webhook_id);

-- due_at is when the next attempt may begin or, under way, when its lease ends;
-- NULL once the delivery is over. Deliveries outlive their destination, hence
-- no reference.
CREATE TABLE webhook_delivery (
    id                TEXT PRIMARY KEY,
    webhook_id        TEXT NOT NULL,
    webhook_revision  TEXT NOT NULL,
    app_id            TEXT NOT NULL,
    event_id          TEXT NOT NULL,
    event_type        TEXT NOT NULL,
    resource_id       TEXT NOT NULL,
    resource_revision TEXT NOT NULL,
    occurred_at       BIGINT NOT NULL,
    state             TEXT NOT NULL,
    attempts          BIGINT NOT NULL,
    lease_no          BIGINT NOT NULL,
    http_status       BIGINT,
    error_code        TEXT,
    error_message     TEXT,
    due_at            BIGINT,
    revision          TEXT NOT NULL,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL
);
-- With its filters, so that a rare match among many reads no row of them.
CREATE INDEX webhook_delivery_list ON webhook_delivery (webhook_id, created_at, id, state, event_type);
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_id, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_delivery_next ON webhook_delivery (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_delivery_over ON webhook_delivery (created_at) WHERE due_at IS NULL;
