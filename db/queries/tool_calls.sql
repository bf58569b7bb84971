-- Calls as read by a tenant, and pending approvals. Other calls are written in batches: system_calls.sql.

-- name: ToolCall :one
select tool_calls.*
from tool_calls
where tenant_id = @tenant_id and id = @id;

-- name: ToolCalls :many
-- Contents, and arguments and tasks above 16 KiB, are excluded to bound the memory of a page.
select tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, token_id, credential_id,
       definition_hash, instance_id, status, outcome, error_code, error_message, is_error, structured_valid, structured_error, approved_by,
       (case when length(arguments) <= 16384 then arguments end)::bytea as arguments,
       (case when length(task) <= 16384 then task end)::bytea as task,
       progress, truncated, request_bytes, response_bytes, started_at, completed_at, duration_us, address, request_id
from tool_calls
where tenant_id = @tenant_id
  and (sqlc.narg(agent_id)::uuid is null or agent_id = sqlc.narg(agent_id))
  and (sqlc.narg(connector_id)::uuid is null or connector_id = sqlc.narg(connector_id))
  and (@status::text = '' or status = @status)
  and (@tool::text = '' or tool = @tool or exposed_name = @tool)
  and (sqlc.narg(after_id)::uuid is null or id < sqlc.narg(after_id))
order by id desc
limit @max_rows;

-- name: InsertPendingCall :execrows
-- 0 rows: the agent or the connector was deleted. Both are locked until the row is written.
with this_agent as materialized (
    select agents.id from agents where agents.tenant_id = @tenant_id and agents.id = @agent_id for key share
), this_connector as materialized (
    select connectors.id from connectors where connectors.tenant_id = @tenant_id and connectors.id = @connector_id for key share
)
insert into tool_calls (tenant_id, id, agent_id, agent_slug, connector_id, connector_slug, kind, tool, exposed_name, source, caller, token_id,
    definition_hash, status, arguments, truncated, request_bytes, started_at, address, request_id)
select @tenant_id, @id, this_agent.id, @agent_slug, this_connector.id, @connector_slug, coalesce(nullif(@kind::text, ''), 'tool'), @tool, @exposed_name, @source, @caller, @token_id,
    @definition_hash, 'pending_approval', @arguments, @truncated, @request_bytes, @started_at, nullif(@address::text, ''), nullif(@request_id::text, '')
from this_agent, this_connector;

-- name: StartPendingCall :exec
update tool_calls
set status = 'running',
    instance_id = @instance_id,
    approved_by = @approved_by
where tenant_id = @tenant_id and id = @id and status = 'pending_approval';

-- name: EndPendingCall :one
with ended as (
    update tool_calls
    set status = @status,
        outcome = @outcome,
        error_code = @error_code,
        error_message = @error_message,
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    where tenant_id = @tenant_id and id = @id and status = 'pending_approval'
    returning tool_calls.tenant_id, tool_calls.completed_at, tool_calls.status
)
select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])::bigint as calls
from ended;

-- name: SaveCallTask :exec
-- attached: a process waits for the task. Else instance_id is cleared, for the task outlives its process. task_handle
-- empty: the stored one stays; a call without one gets the empty handle, so that it is among the tasks. expires_at: when the
-- server may forget the task; null or earlier than the stored one: that stays.
update tool_calls
set task = @task,
    task_expires_at = greatest(task_expires_at, sqlc.narg(expires_at)::timestamptz),
    task_handle = coalesce(nullif(@task_handle::text, ''), task_handle, ''),
    instance_id = case when @attached::boolean then instance_id end
where tenant_id = @tenant_id and id = @id and completed_at is null;

-- name: EndCallTask :one
with ended as (
    update tool_calls
    set task = @task,
        status = @status,
        outcome = @outcome,
        error_code = @error_code,
        error_message = @error_message,
        is_error = @is_error,
        structured_valid = @structured_valid,
        structured_error = @structured_error,
        content = @content,
        structured = @structured,
        truncated = @truncated,
        response_bytes = @response_bytes,
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    where tenant_id = @tenant_id and id = @id and completed_at is null
    returning tool_calls.tenant_id, tool_calls.completed_at, tool_calls.status
)
select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])::bigint as calls
from ended;

-- name: MarkUndelivered :exec
-- Status and outcome of the call stay.
update tool_calls
set error_code = 'undelivered',
    error_message = 'The agent''s client did not take the answer.'
where tenant_id = @tenant_id and id = @id and completed_at is not null and error_code = '';
