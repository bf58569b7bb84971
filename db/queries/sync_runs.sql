-- name: SyncRuns :many
select sync_runs.*
from sync_runs
where tenant_id = @tenant_id and connector_id = @connector_id
  and (sqlc.narg(before_id)::uuid is null or id < sqlc.narg(before_id))
order by id desc
limit @max_rows;

-- name: SyncRun :one
select sync_runs.*
from sync_runs
where tenant_id = @tenant_id and id = @id;

-- name: QueueRun :one
-- No row: one is waiting already.
insert into sync_runs (tenant_id, id, connector_id, agent_id, trigger, state)
values (@tenant_id, @id, @connector_id, @agent_id, @trigger, 'queued')
on conflict (tenant_id, connector_id) where state = 'queued' do nothing
returning sync_runs.*;

-- name: QueuedRun :one
select sync_runs.*
from sync_runs
where tenant_id = @tenant_id and connector_id = @connector_id and state = 'queued';

-- name: QueueRuns :many
insert into sync_runs (tenant_id, id, connector_id, trigger, state)
select @tenant_id, new.id, new.connector_id, @trigger, 'queued'
from (select unnest(@ids::uuid[]) as id, unnest(@connector_ids::uuid[]) as connector_id) new
on conflict (tenant_id, connector_id) where state = 'queued' do nothing
returning sync_runs.id, sync_runs.connector_id;

-- name: StartRun :one
-- No row: one is running.
insert into sync_runs (tenant_id, id, connector_id, agent_id, trigger, state, instance_id, started_at)
values (@tenant_id, @id, @connector_id, @agent_id, @trigger, 'running', @instance_id, now())
on conflict (tenant_id, connector_id) where state = 'running' do nothing
returning sync_runs.*;

-- name: StartQueuedRun :one
-- No row: it is queued no more, or another one is running.
update sync_runs
set state = 'running', instance_id = @instance_id, started_at = now()
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id and sync_runs.state = 'queued'
  and not exists (
      select from sync_runs other
      where other.tenant_id = sync_runs.tenant_id and other.connector_id = sync_runs.connector_id and other.state = 'running')
returning sync_runs.*;

-- name: CloseOrphanedRuns :execrows
-- A connector's running run whose process is silent. The asking process is alive, whatever its last beat.
update sync_runs
set state = 'error',
    finished_at = now(),
    error_code = 'interrupted',
    error_message = 'The server stopped during this sync.'
where sync_runs.tenant_id = @tenant_id and sync_runs.connector_id = @connector_id and sync_runs.state = 'running'
  and sync_runs.instance_id <> @instance_id
  and not exists (
      select from instances
      where instances.id = sync_runs.instance_id and instances.beat_at > now() - interval '6 seconds');

-- name: FinishUnchanged :one
-- The whole end of a sync whose list is the one we know. No row: it is another list, or the run has ended.
with stamped as (
    update connectors
    set tools_last_synced_at = now(),
        next_sync_at = now() + make_interval(secs => nullif(sync_interval_s, 0)),
        auth_behaviour = coalesce(nullif(@auth_behaviour::text, ''), connectors.auth_behaviour),
        era = coalesce(nullif(@era::text, ''), connectors.era),
        last_error_code = null,
        last_error_message = null,
        last_error_at = null,
        server_name = @server_name,
        server_version = @server_version,
        server_title = @server_title,
        server_protocol = @server_protocol,
        server_instructions = @server_instructions,
        server_capabilities = @server_capabilities
    from sync_runs run
    where connectors.tenant_id = @tenant_id and connectors.tools_hash = @list_hash
      and run.tenant_id = @tenant_id and run.id = @id and run.state = 'running'
      and connectors.id = run.connector_id
    returning connectors.id
)
update sync_runs
set state = 'ok',
    finished_at = now(),
    tools_total = @tools_total,
    tools_quarantined = @tools_quarantined,
    protocol_version = @server_protocol
from stamped
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id and sync_runs.state = 'running'
  and sync_runs.connector_id = stamped.id
returning sync_runs.*;

-- name: FinishRun :one
-- The connector is locked before its run, as in every other end and in a deletion: two that meet wait, and never for each other.
with locked as (
    select connectors.id
    from connectors
    join sync_runs run on run.tenant_id = connectors.tenant_id and run.connector_id = connectors.id
    where connectors.tenant_id = @tenant_id and run.id = @id and run.state = 'running'
    for no key update of connectors
)
update sync_runs
set state = 'ok',
    finished_at = now(),
    tools_total = @tools_total,
    tools_added = @tools_added,
    tools_changed = @tools_changed,
    tools_removed = @tools_removed,
    tools_quarantined = @tools_quarantined,
    protocol_version = @protocol_version
from locked
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id and sync_runs.state = 'running'
  and sync_runs.connector_id = locked.id
returning sync_runs.*;

-- name: StampConnector :exec
update connectors
set tools_hash = @list_hash,
    tool_count = @tool_count,
    tools_last_synced_at = now(),
    next_sync_at = now() + make_interval(secs => nullif(sync_interval_s, 0)),
    auth_behaviour = coalesce(nullif(@auth_behaviour::text, ''), auth_behaviour),
    era = coalesce(nullif(@era::text, ''), era),
    last_error_code = null,
    last_error_message = null,
    last_error_at = null,
    server_name = @server_name,
    server_version = @server_version,
    server_title = @server_title,
    server_protocol = @server_protocol,
    server_instructions = @server_instructions,
    server_capabilities = @server_capabilities
where tenant_id = @tenant_id and id = @id;

-- name: FailRun :one
-- The tools that are known stay; only the error is remembered.
with stamped as (
    update connectors
    set last_error_code = @error_code::text,
        last_error_message = @error_message::text,
        last_error_at = now(),
        auth_behaviour = coalesce(nullif(@auth_behaviour::text, ''), connectors.auth_behaviour),
        next_sync_at = now() + make_interval(secs => nullif(connectors.sync_interval_s, 0))
    from sync_runs run
    where connectors.tenant_id = @tenant_id
      and run.tenant_id = @tenant_id and run.id = @id and run.state in ('queued', 'running')
      and connectors.id = run.connector_id
    returning connectors.id
)
update sync_runs
set state = 'error',
    finished_at = now(),
    tools_total = @tools_total,
    tools_quarantined = @tools_quarantined,
    protocol_version = @protocol_version,
    error_code = @error_code,
    error_message = @error_message
from stamped
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id and sync_runs.state in ('queued', 'running')
  and sync_runs.connector_id = stamped.id
returning sync_runs.*;
