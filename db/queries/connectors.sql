-- name: ConnectorsByName :many
-- Rows include the running sync and the tool names, so that a page needs no query per row.
select sqlc.embed(connectors),
       coalesce(running.id, '00000000-0000-0000-0000-000000000000')::uuid as running_id,
       array(select tools.name
             from tools
             where tools.tenant_id = connectors.tenant_id and tools.connector_id = connectors.id and tools.removed_at is null
             order by tools.name)::text[] as tool_names,
       coalesce((select connector_envs.names
                 from connector_envs
                 where connector_envs.tenant_id = connectors.tenant_id and connector_envs.connector_id = connectors.id), '{}')::text[] as env_names,
       clock.due_at, clock.failures, clock.failing_since, clock.checked_at, clock.ok_at, clock.vanished_at, clock.vanished_tools, clock.vanished_of,
       connector_is_down(clock.failures, clock.failing_since, clock.checked_at, tenants.down_after_failures, tenants.down_after_minutes)::boolean as down,
       connector_status(connectors.status, held.needs_credential)::text as status, held.needs_credential, held.lapses_at
from connectors
join tenants on tenants.id = connectors.tenant_id
join connector_clock clock on clock.tenant_id = connectors.tenant_id and clock.connector_id = connectors.id
left join sync_runs running
    on running.tenant_id = connectors.tenant_id and running.connector_id = connectors.id and running.state = 'running'
cross join lateral (
    select connector_needs_credential(connectors.auth_type, count(*), count(*) filter (where credentials.status in ('expired', 'revoked')))::boolean as needs_credential,
           coalesce(min(case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                             then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                             else credentials.expires_at end)
                    filter (where credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')), 'epoch')::timestamptz as lapses_at
    from credentials
    where credentials.tenant_id = connectors.tenant_id and credentials.connector_id = connectors.id
      and (credentials.agent_id is null) = (connectors.credential_mode = 'shared')
) held
where connectors.tenant_id = @tenant_id
  and (@status::text = '' or connector_status(connectors.status, held.needs_credential) = @status)
  and (@pattern::text = '' or connectors.name ilike @pattern or connectors.slug ilike @pattern or connectors.url ilike @pattern)
  and (@transport::text = '' or connectors.transport = @transport)
  and (@auth_type::text = '' or connectors.auth_type = @auth_type)
  and (@tag::text = '' or @tag::text = any(connectors.tags))
  and (cardinality(@ids::uuid[]) = 0 or connectors.id = any(@ids))
  and (sqlc.narg(after_name)::text is null
       or (lower(connectors.name), connectors.id) > (lower(sqlc.narg(after_name)), sqlc.narg(after_id)::uuid))
order by lower(connectors.name), connectors.id
limit @max_rows;

-- name: ConnectorByRef :one
select sqlc.embed(connectors),
       coalesce(running.id, '00000000-0000-0000-0000-000000000000')::uuid as running_id,
       array(select tools.name
             from tools
             where tools.tenant_id = connectors.tenant_id and tools.connector_id = connectors.id and tools.removed_at is null
             order by tools.name)::text[] as tool_names,
       coalesce((select connector_envs.names
                 from connector_envs
                 where connector_envs.tenant_id = connectors.tenant_id and connector_envs.connector_id = connectors.id), '{}')::text[] as env_names,
       clock.due_at, clock.failures, clock.failing_since, clock.checked_at, clock.ok_at, clock.vanished_at, clock.vanished_tools, clock.vanished_of,
       connector_is_down(clock.failures, clock.failing_since, clock.checked_at, tenants.down_after_failures, tenants.down_after_minutes)::boolean as down,
       connector_status(connectors.status, held.needs_credential)::text as status, held.needs_credential, held.lapses_at
from connectors
join tenants on tenants.id = connectors.tenant_id
join connector_clock clock on clock.tenant_id = connectors.tenant_id and clock.connector_id = connectors.id
left join sync_runs running
    on running.tenant_id = connectors.tenant_id and running.connector_id = connectors.id and running.state = 'running'
cross join lateral (
    select connector_needs_credential(connectors.auth_type, count(*), count(*) filter (where credentials.status in ('expired', 'revoked')))::boolean as needs_credential,
           coalesce(min(case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                             then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                             else credentials.expires_at end)
                    filter (where credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')), 'epoch')::timestamptz as lapses_at
    from credentials
    where credentials.tenant_id = connectors.tenant_id and credentials.connector_id = connectors.id
      and (credentials.agent_id is null) = (connectors.credential_mode = 'shared')
) held
where connectors.tenant_id = @tenant_id
  and connectors.id = coalesce(
      sqlc.narg(id)::uuid,
      (select named.id from connectors named where named.tenant_id = @tenant_id and named.slug = sqlc.narg(slug)::text));

-- name: ConnectorStats :many
select now.status::text as status, count(*) as connectors, coalesce(sum(connectors.tool_count), 0)::bigint as tools
from connectors
left join (
    select credentials.connector_id, credentials.agent_id is null as shared, count(*) as stored,
           count(*) filter (where credentials.status in ('expired', 'revoked')) as ended
    from credentials
    where credentials.tenant_id = @tenant_id
    group by credentials.connector_id, credentials.agent_id is null
) held on held.connector_id = connectors.id and held.shared = (connectors.credential_mode = 'shared')
cross join lateral (
    select connector_status(connectors.status, connector_needs_credential(connectors.auth_type, coalesce(held.stored, 0), coalesce(held.ended, 0))) as status
) now
where connectors.tenant_id = @tenant_id
group by now.status;

-- name: ConnectorsByURL :many
-- Places are URLs in lower case, without query and trailing slash.
select slug, name, url
from connectors
where tenant_id = @tenant_id and lower(rtrim(split_part(url, '?', 1), '/')) = any(@places::text[])
order by name, id;

-- name: CreateConnector :exec
-- No sync starts. A trigger schedules the first one after one interval. The parameters stand in the order of UpdateConnector.
insert into connectors (slug, name, description, transport, url, command, args, cwd, headers, credential_mode, auth_type, auth_header,
                        timeout_ms, retry_attempts, enabled, sync_interval_s, tool_changes, listen, max_definition_age_s, oauth, calls_per_minute,
                        session_per_agent, retry_backoff_ms, connect_timeout_ms, max_response_bytes, stream_reconnects, methods, auth_in, server_url, tenant_id, id, version)
values (@slug, @name, @description, @transport, @url, @command, @args, @cwd, @headers, @credential_mode, @auth_type, @auth_header,
        @timeout_ms, @retry_attempts, @enabled, @sync_interval_s, @tool_changes, @listen, @max_definition_age_s, @oauth, @calls_per_minute,
        @session_per_agent, @retry_backoff_ms, @connect_timeout_ms, @max_response_bytes, @stream_reconnects, @methods, @auth_in, @server_url, @tenant_id, @id, @version);

-- name: UpdateConnector :execrows
-- version 0: any version. The protocol era is cleared if the transport or its target changes.
update connectors
set slug = @slug,
    name = @name,
    description = @description,
    transport = @transport,
    url = @url,
    command = @command,
    args = @args,
    cwd = @cwd,
    era = case when (transport, url, command, args) = (@transport, @url, @command, @args) then era else '' end,
    headers = @headers,
    credential_mode = @credential_mode,
    auth_type = @auth_type,
    auth_header = @auth_header,
    timeout_ms = @timeout_ms,
    retry_attempts = @retry_attempts,
    enabled = @enabled,
    sync_interval_s = @sync_interval_s,
    tool_changes = @tool_changes,
    listen = @listen,
    max_definition_age_s = @max_definition_age_s,
    oauth = @oauth,
    calls_per_minute = @calls_per_minute,
    session_per_agent = @session_per_agent,
    retry_backoff_ms = @retry_backoff_ms,
    connect_timeout_ms = @connect_timeout_ms,
    max_response_bytes = @max_response_bytes,
    stream_reconnects = @stream_reconnects,
    methods = @methods,
    auth_in = @auth_in,
    server_url = @server_url,
    version = version + 1,
    updated_at = now()
where tenant_id = @tenant_id and id = @id and (@version::integer = 0 or version = @version);

-- name: DeleteConnector :execrows
delete from connectors
where tenant_id = @tenant_id and id = @id;

-- name: ConnectorBase :one
select tools_hash, server_instructions, accepted_instructions, instructions_review, tool_changes
from connectors
where tenant_id = @tenant_id and id = @id;

-- name: EnabledConnectorIDs :many
select id
from connectors
where tenant_id = @tenant_id and enabled
order by id;

-- name: SetAuthBehaviour :exec
update connectors
set auth_behaviour = @auth_behaviour
where tenant_id = @tenant_id and id = @id;

-- name: SetEnvironment :exec
insert into connector_envs (tenant_id, connector_id, program, names, sealed)
values (@tenant_id, @connector_id, @program, @names, @sealed)
on conflict on constraint connector_envs_pkey do update
set program = excluded.program,
    names = excluded.names,
    sealed = excluded.sealed,
    updated_at = now();

-- name: Environment :one
select connector_envs.*
from connector_envs
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: DeleteEnvironment :execrows
delete from connector_envs
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: ConnectorNames :many
-- All of a tenant, for a filter.
select connectors.slug, connectors.name
from connectors
where connectors.tenant_id = @tenant_id
order by lower(connectors.name), connectors.id
limit @max_rows;
