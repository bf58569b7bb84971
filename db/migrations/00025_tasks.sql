-- +goose Up

-- The calls that their servers run as tasks, the newest first: few among many. Calls without a handle, which are nearly all, are not in it.
create index tool_calls_tasks_idx on tool_calls (tenant_id, id desc) where task_handle is not null;

-- +goose Down
drop index tool_calls_tasks_idx;
