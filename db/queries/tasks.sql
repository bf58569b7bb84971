-- Calls that run as MCP tasks.

-- name: TaskCalls :many
-- Contents and arguments are excluded: lists show only progress.
select tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, instance_id, status, outcome,
       error_code, error_message, is_error, structured_valid, structured_error, approved_by, progress, (case when length(task) <= 16384 then task end)::bytea as task, truncated, request_bytes,
       response_bytes, started_at, completed_at, duration_us, address, request_id
from tool_calls
where tenant_id = @tenant_id
  and task_handle is not null
  and (sqlc.narg(agent_id)::uuid is null or agent_id = sqlc.narg(agent_id))
  and (sqlc.narg(connector_id)::uuid is null or connector_id = sqlc.narg(connector_id))
  and (@status::text = '' or status = @status)
  and (@tool::text = '' or tool = @tool or exposed_name = @tool)
  and (sqlc.narg(after_id)::uuid is null or id < sqlc.narg(after_id))
order by id desc
limit @max_rows;

-- name: AgentTasks :many
-- The tasks that an agent has a handle of, the newest first. Task states above 16 KiB are excluded.
select id, status, is_error, error_message, task_handle, (case when length(task) <= 16384 then task end)::bytea as task, started_at, completed_at
from tool_calls
where tenant_id = @tenant_id
  and agent_id = @agent_id::uuid
  and task_handle <> ''
  and started_at > @since
  and (sqlc.narg(after_id)::uuid is null or id < sqlc.narg(after_id))
order by id desc
limit @max_rows;
