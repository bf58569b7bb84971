-- Calls that run as MCP tasks.

-- name: TaskCalls :many
-- Contents and arguments are excluded: lists show only progress. Names and title as in ToolCall.
select call.tenant_id, call.id, call.agent_id, call.agent_slug, call.connector_id, call.connector_slug, call.kind, call.tool, call.exposed_name, call.source,
       call.caller, call.instance_id, call.status, call.outcome, call.error_code, call.error_message, call.is_error, call.structured_valid, call.structured_error,
       call.approved_by, call.progress, (case when length(call.task) <= 16384 then call.task end)::bytea as task, call.truncated, call.request_bytes,
       call.response_bytes, call.started_at, call.completed_at, call.duration_us, call.waited_us, call.address, call.request_id,
       coalesce(agents.name, '')::text as agent_name, coalesce(connectors.name, '')::text as connector_name,
       coalesce(tool_definitions.title, '')::text as tool_title
from tool_calls call
left join agents on agents.tenant_id = call.tenant_id and agents.id = call.agent_id
left join connectors on connectors.tenant_id = call.tenant_id and connectors.id = call.connector_id
left join tool_definitions on tool_definitions.tenant_id = call.tenant_id and tool_definitions.hash = call.definition_hash
where call.tenant_id = @tenant_id
  and call.task_handle is not null
  and (sqlc.narg(agent_id)::uuid is null or call.agent_id = sqlc.narg(agent_id))
  and (sqlc.narg(connector_id)::uuid is null or call.connector_id = sqlc.narg(connector_id))
  and (@status::text = '' or call.status = @status)
  and (@tool::text = '' or call.tool = @tool or call.exposed_name = @tool)
  and (sqlc.narg(after_id)::uuid is null or call.id < sqlc.narg(after_id))
order by call.id desc
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
