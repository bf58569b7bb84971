-- +goose Up

-- The part of a call's duration in which it waited for approval; null: it did not wait, or the call is older than this column.
alter table tool_calls add column waited_us bigint;

-- +goose Down
alter table tool_calls drop column waited_us;
