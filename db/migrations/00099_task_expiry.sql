-- +goose Up

-- When the server of a running task may forget it. Null: it is no task, or the server tells no ttl.
alter table tool_calls add column task_expires_at timestamptz;

-- +goose Down
alter table tool_calls drop column task_expires_at;
