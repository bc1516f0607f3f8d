-- +goose Up

-- The trace of the work that caused a job or a delivery, a traceparent of W3C Trace Context; NULL where
-- it is not traced.
ALTER TABLE job ADD COLUMN trace TEXT;
ALTER TABLE webhook_delivery ADD COLUMN trace TEXT;
