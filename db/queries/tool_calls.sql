-- Calls as read by a tenant, and pending approvals. Other calls are written in batches: system_calls.sql.

-- name: ToolCall :one
-- The names are those that the agent, the connector and the token have now, and the title is of the called version of the tool.
-- A token without a name has its client's, or its prefix. A replaced or deleted account has no name.
select sqlc.embed(tool_calls), coalesce(agents.name, '')::text as agent_name, coalesce(connectors.name, '')::text as connector_name,
       coalesce(tool_definitions.title, '')::text as tool_title, coalesce(nullif(agent_tokens.name, ''), agent_clients.client_name, agent_tokens.prefix, '')::text as token_name,
       credentials.agent_id as account_agent, coalesce(credentials.name, '')::text as account_name, (case when credentials.type = 'oauth2' then credentials.account else '' end)::text as account,
       coalesce(credentials.grant_meta -> 'identity', '{}')::jsonb as identity
from tool_calls
left join agents on agents.tenant_id = tool_calls.tenant_id and agents.id = tool_calls.agent_id
left join connectors on connectors.tenant_id = tool_calls.tenant_id and connectors.id = tool_calls.connector_id
left join tool_definitions on tool_definitions.tenant_id = tool_calls.tenant_id and tool_definitions.hash = tool_calls.definition_hash
left join agent_tokens on agent_tokens.tenant_id = tool_calls.tenant_id and agent_tokens.id = tool_calls.token_id
left join agent_clients on agent_clients.tenant_id = agent_tokens.tenant_id and agent_clients.id = agent_tokens.agent_client_id
left join credentials on credentials.tenant_id = tool_calls.tenant_id and credentials.id = tool_calls.credential_id
where tool_calls.tenant_id = @tenant_id and tool_calls.id = @id;

-- name: ToolCalls :many
-- Contents, and arguments and tasks above 16 KiB, are excluded to bound the memory of a page. Names and title as in ToolCall.
select call.tenant_id, call.id, call.agent_id, call.agent_slug, call.connector_id, call.connector_slug, call.kind, call.tool, call.exposed_name,
       call.source, call.caller, call.token_id, call.credential_id, call.definition_hash, call.instance_id, call.status, call.outcome, call.error_code,
       call.error_message, call.is_error, call.structured_valid, call.structured_error, call.approved_by,
       (case when length(call.arguments) <= 16384 then call.arguments end)::bytea as arguments,
       (case when length(call.task) <= 16384 then call.task end)::bytea as task,
       call.progress, call.truncated, call.request_bytes, call.response_bytes, call.started_at, call.completed_at, call.duration_us, call.waited_us,
       call.address, call.request_id, call.upstream, coalesce(agents.name, '')::text as agent_name, coalesce(connectors.name, '')::text as connector_name,
       coalesce(tool_definitions.title, '')::text as tool_title
from tool_calls call
left join agents on agents.tenant_id = call.tenant_id and agents.id = call.agent_id
left join connectors on connectors.tenant_id = call.tenant_id and connectors.id = call.connector_id
left join tool_definitions on tool_definitions.tenant_id = call.tenant_id and tool_definitions.hash = call.definition_hash
where call.tenant_id = @tenant_id
  and (sqlc.narg(agent_id)::uuid is null or call.agent_id = sqlc.narg(agent_id))
  and (sqlc.narg(connector_id)::uuid is null or call.connector_id = sqlc.narg(connector_id))
  and (@status::text = '' or call.status = @status)
  and (@tool::text = '' or call.tool = @tool or call.exposed_name = @tool)
  and (sqlc.narg(from_id)::uuid is null or call.id >= sqlc.narg(from_id))
  and (sqlc.narg(to_id)::uuid is null or call.id < sqlc.narg(to_id))
  and (sqlc.narg(after_id)::uuid is null or call.id < sqlc.narg(after_id))
order by call.id desc
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
    approved_by = @approved_by,
    waited_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
where tenant_id = @tenant_id and id = @id and status = 'pending_approval';

-- name: EndPendingCall :one
with ended as (
    update tool_calls
    set status = @status,
        outcome = @outcome,
        error_code = @error_code,
        error_message = @error_message,
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint),
        waited_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    where tenant_id = @tenant_id and id = @id and status = 'pending_approval'
    returning tool_calls.tenant_id, tool_calls.completed_at, tool_calls.status
)
select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])::bigint as calls
from ended;

-- name: SaveCallTask :exec
-- attached: a process waits for the task. Else instance_id is cleared, for the task outlives its process. task_handle
-- empty: the stored one stays; a call without one gets the empty handle, so that it is among the tasks. expires_at: when the
-- server may forget the task; null or earlier than the stored one: that stays. credential_id: the account of the call; null: the
-- stored one stays.
update tool_calls
set task = @task,
    credential_id = coalesce(sqlc.narg(credential_id), credential_id),
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
    error_message = 'The agent''s client didn''t take the response.'
where tenant_id = @tenant_id and id = @id and completed_at is not null and error_code = '';
