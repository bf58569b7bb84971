-- name: SyncRuns :many
-- Repetitions of the newest run are in connector_clock until another run starts.
select sqlc.embed(sync_runs), coalesce(clock.checks, 0)::integer as checks, clock.checked_at
from sync_runs
left join connector_clock clock
    on clock.tenant_id = sync_runs.tenant_id and clock.connector_id = sync_runs.connector_id and clock.run_id = sync_runs.id
where sync_runs.tenant_id = @tenant_id and sync_runs.connector_id = @connector_id
  and (sqlc.narg(before_id)::uuid is null or sync_runs.id < sqlc.narg(before_id))
order by sync_runs.id desc
limit @max_rows;

-- name: SyncRun :one
select sqlc.embed(sync_runs), coalesce(clock.checks, 0)::integer as checks, clock.checked_at
from sync_runs
left join connector_clock clock
    on clock.tenant_id = sync_runs.tenant_id and clock.connector_id = sync_runs.connector_id and clock.run_id = sync_runs.id
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id;

-- name: QueueRun :one
-- No row: a run is queued already.
insert into sync_runs (tenant_id, id, connector_id, agent_id, trigger, state)
values (@tenant_id, @id, @connector_id, @agent_id, @trigger, 'queued')
on conflict (tenant_id, connector_id) where state = 'queued' do nothing
returning sync_runs.*;

-- name: QueuedRun :one
select sync_runs.*
from sync_runs
where tenant_id = @tenant_id and connector_id = @connector_id and state = 'queued';

-- name: WaitingRuns :one
-- Queued runs of the tenant, counted up to @most.
select count(*)::integer
from (
    select from sync_runs
    where tenant_id = @tenant_id and state = 'queued'
    limit @most
) waiting;

-- name: QueueRuns :many
-- A run that is queued already joins the sweep and keeps its id.
insert into sync_runs (tenant_id, id, connector_id, trigger, state, sweep_id)
select @tenant_id, new.id, new.connector_id, @trigger, 'queued', @sweep_id::uuid
from (select unnest(@ids::uuid[]) as id, unnest(@connector_ids::uuid[]) as connector_id) new
on conflict (tenant_id, connector_id) where state = 'queued' do update set sweep_id = excluded.sweep_id
returning sync_runs.id, sync_runs.connector_id;

-- name: StartRun :one
-- No row: a run is active, or the connector was deleted. The claim in connector_clock is the lock, for scheduled syncs
-- too. The previous run takes its repetitions from the clock.
with locked as materialized (
    select connectors.id
    from connectors
    where connectors.tenant_id = @tenant_id and connectors.id = @connector_id
    for key share
), free as materialized (
    select clock.connector_id, clock.run_id, clock.checks, clock.checked_at
    from connector_clock clock, locked
    where clock.tenant_id = @tenant_id and clock.connector_id = locked.id
      and (clock.claimed_by is null or not exists (select from instances where instances.id = clock.claimed_by))
      and not exists (
          select from sync_runs other
          where other.tenant_id = @tenant_id and other.connector_id = locked.id and other.state = 'running')
    for no key update of clock
), claimed as (
    update connector_clock
    set claimed_by = @instance_id::uuid, claimed_at = now(), run_id = null, checks = 0
    from free
    where connector_clock.tenant_id = @tenant_id and connector_clock.connector_id = free.connector_id
), closed as (
    update sync_runs
    set repeats = free.checks, repeated_at = free.checked_at
    from free
    where sync_runs.tenant_id = @tenant_id and sync_runs.id = free.run_id and free.checks > 0
)
insert into sync_runs (tenant_id, id, connector_id, agent_id, trigger, state, instance_id, started_at)
select @tenant_id, @id, free.connector_id, sqlc.narg(agent_id), @trigger, 'running', @instance_id::uuid, now()
from free
returning sync_runs.*;

-- name: StartQueuedRun :one
-- No row: the run is not queued any more, or another is active. The transaction must then roll back, because the claim
-- may be set.
with free as materialized (
    select clock.connector_id, clock.run_id, clock.checks, clock.checked_at
    from sync_runs queued
    join connector_clock clock on clock.tenant_id = queued.tenant_id and clock.connector_id = queued.connector_id
    where queued.tenant_id = @tenant_id and queued.id = @id and queued.state = 'queued'
      and (clock.claimed_by is null or not exists (select from instances where instances.id = clock.claimed_by))
      and not exists (
          select from sync_runs other
          where other.tenant_id = @tenant_id and other.connector_id = queued.connector_id and other.state = 'running')
    for no key update of clock
), claimed as (
    update connector_clock
    set claimed_by = @instance_id::uuid, claimed_at = now(), run_id = null, checks = 0
    from free
    where connector_clock.tenant_id = @tenant_id and connector_clock.connector_id = free.connector_id
), closed as (
    update sync_runs
    set repeats = free.checks, repeated_at = free.checked_at
    from free
    where sync_runs.tenant_id = @tenant_id and sync_runs.id = free.run_id and free.checks > 0
)
update sync_runs
set state = 'running', instance_id = @instance_id::uuid, started_at = now()
from free
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id and sync_runs.state = 'queued'
returning sync_runs.*;

-- name: StartClaimedRun :one
-- Inserts the run of a scheduled sync that has something to report. No row: another process has the claim.
with held as materialized (
    select clock.connector_id, clock.run_id, clock.checks, clock.checked_at
    from connector_clock clock
    where clock.tenant_id = @tenant_id and clock.connector_id = @connector_id
      and clock.claimed_by = @instance_id::uuid and clock.claimed_at = @claimed_at::timestamptz
    for no key update
), cleared as (
    update connector_clock
    set run_id = null, checks = 0
    from held
    where connector_clock.tenant_id = @tenant_id and connector_clock.connector_id = held.connector_id and held.run_id is not null
), closed as (
    update sync_runs
    set repeats = held.checks, repeated_at = held.checked_at
    from held
    where sync_runs.tenant_id = @tenant_id and sync_runs.id = held.run_id and held.checks > 0
)
insert into sync_runs (tenant_id, id, connector_id, trigger, state, instance_id, queued_at, started_at)
select @tenant_id, @id, held.connector_id, 'schedule', 'running', @instance_id::uuid, @began_at::timestamptz, @began_at::timestamptz
from held
returning sync_runs.*;

-- name: IsConnectorClaimed :one
select (claimed_by is not null)::boolean as taken
from connector_clock
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: CloseOrphanedRuns :execrows
-- The connector's running run of a dead process, with its claim.
with closed as (
    update sync_runs
    set state = 'error',
        finished_at = now(),
        error_code = 'interrupted',
        error_message = 'Patchbay stopped during this sync.'
    where sync_runs.tenant_id = @tenant_id and sync_runs.connector_id = @connector_id and sync_runs.state = 'running'
      and sync_runs.instance_id <> @instance_id
      and not exists (select from instances where instances.id = sync_runs.instance_id)
    returning sync_runs.connector_id, sync_runs.instance_id
), released as (
    update connector_clock
    set claimed_by = null, claimed_at = null
    from closed
    where connector_clock.tenant_id = @tenant_id and connector_clock.connector_id = closed.connector_id
      and connector_clock.claimed_by = closed.instance_id
)
select connector_id from closed;

-- name: FinishUnchanged :one
-- Ends a sync with the stored list and instructions. No row: they differ, or the run has ended.
with stamped as (
    update connectors
    set tools_last_synced_at = now(),
        auth_behaviour = coalesce(nullif(@auth_behaviour::text, ''), connectors.auth_behaviour),
        era = coalesce(nullif(@era::text, ''), connectors.era),
        last_error_code = null,
        last_error_message = null,
        last_error_at = null,
        server_name = @server_name,
        server_version = @server_version,
        server_title = @server_title,
        server_protocol = @server_protocol,
        server_capabilities = @server_capabilities
    from sync_runs run
    where connectors.tenant_id = @tenant_id and connectors.tools_hash = @list_hash and connectors.server_instructions = @server_instructions
      and run.tenant_id = @tenant_id and run.id = @id and run.state = 'running'
      and connectors.id = run.connector_id
    returning connectors.id, connectors.enabled, connectors.sync_interval_s, run.id as run_id, run.trigger, run.started_at
), released as (
    update connector_clock
    set due_at = case when stamped.enabled then next_due(stamped.sync_interval_s) end,
        known_until = coalesce(now() + make_interval(secs => nullif(@known_s::double precision, 0)), connector_clock.known_until),
        claimed_by = null,
        claimed_at = null,
        failures = 0,
        failing_since = null,
        run_id = case when stamped.trigger = 'schedule' then stamped.run_id end,
        checks = 0,
        checked_at = now(),
        ok_at = now(),
        hour = date_trunc('hour', now(), 'UTC'),
        hour_ok = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ok else 0 end + 1,
        hour_failed = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_failed else 0 end,
        hour_ms = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ms else 0 end + extract(epoch from now() - stamped.started_at) * 1000,
        hour_max_ms = greatest(case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_max_ms else 0 end, extract(epoch from now() - stamped.started_at) * 1000)
    from stamped
    where connector_clock.tenant_id = @tenant_id and connector_clock.connector_id = stamped.id
)
update sync_runs
set state = 'ok',
    finished_at = now(),
    tools_total = @tools_total,
    tools_quarantined = @tools_quarantined,
    item_counts = sqlc.narg(item_counts)::jsonb,
    protocol_version = @server_protocol
from stamped
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id and sync_runs.state = 'running'
  and sync_runs.connector_id = stamped.id
returning sync_runs.*;

-- name: FinishRun :one
-- The connector is locked before its run, as in every other end and in the deletion: a fixed order prevents deadlocks.
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
    item_counts = sqlc.narg(item_counts)::jsonb,
    protocol_version = @protocol_version
from locked
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id and sync_runs.state = 'running'
  and sync_runs.connector_id = locked.id
returning sync_runs.*;

-- name: FinishChangedConnector :exec
-- Ends a sync with another list or other instructions, and releases the claim. instructions_review empty: the review
-- state stays.
with stamped as (
    update connectors
    set tools_hash = @list_hash,
        tool_count = @tool_count,
        tools_last_synced_at = now(),
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
        accepted_instructions = case when @instructions_review::text = '' then connectors.accepted_instructions else sqlc.narg(accepted_instructions)::text end,
        instructions_review = coalesce(nullif(@instructions_review::text, ''), connectors.instructions_review),
        server_capabilities = @server_capabilities
    where connectors.tenant_id = @tenant_id and connectors.id = @id
    returning connectors.id, connectors.enabled, connectors.sync_interval_s
)
update connector_clock
set due_at = case when stamped.enabled then next_due(stamped.sync_interval_s) end,
    known_until = coalesce(now() + make_interval(secs => nullif(@known_s::double precision, 0)), connector_clock.known_until),
    claimed_by = null,
    claimed_at = null,
    failures = 0,
    failing_since = null,
    run_id = null,
    checks = 0,
    checked_at = now(),
    ok_at = now(),
    hour = date_trunc('hour', now(), 'UTC'),
    hour_ok = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ok else 0 end + 1,
    hour_failed = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_failed else 0 end,
    hour_ms = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ms else 0 end + @took_ms::bigint,
    hour_max_ms = greatest(case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_max_ms else 0 end, @took_ms::bigint)
from stamped
where connector_clock.tenant_id = @tenant_id and connector_clock.connector_id = stamped.id;

-- name: RunRetryState :one
-- Input for the time of the next attempt after a failure.
select connectors.enabled, connectors.sync_interval_s, clock.failures,
       coalesce(extract(epoch from now() - clock.failing_since), 0)::double precision as failing_s
from sync_runs run
join connectors on connectors.tenant_id = run.tenant_id and connectors.id = run.connector_id
join connector_clock clock on clock.tenant_id = run.tenant_id and clock.connector_id = run.connector_id
where run.tenant_id = @tenant_id and run.id = @id and run.state in ('queued', 'running');

-- name: FailRun :one
-- The known tools stay. A queued run does not change the clock: it never reached the server. answered and silent are
-- added to the counts of the hour; both 0: no request was sent. The next attempt is delayed by up to a tenth more, as
-- in EndFailed.
with stamped as (
    update connectors
    set last_error_code = @error_code::text,
        last_error_message = @error_message::text,
        last_error_at = now(),
        auth_behaviour = coalesce(nullif(@auth_behaviour::text, ''), connectors.auth_behaviour)
    from sync_runs run
    where connectors.tenant_id = @tenant_id
      and run.tenant_id = @tenant_id and run.id = @id and run.state in ('queued', 'running')
      and connectors.id = run.connector_id
    returning connectors.id, run.state, run.started_at, @answered::integer as answered, @silent::integer as silent
), released as (
    update connector_clock
    set due_at = now() + make_interval(secs => sqlc.narg(wait_s)::double precision * (1 + 0.1 * random())),
        claimed_by = null,
        claimed_at = null,
        failures = failures + 1,
        failing_since = coalesce(failing_since, now()),
        run_id = null,
        checks = 0,
        checked_at = now(),
        hour = date_trunc('hour', now(), 'UTC'),
        hour_failed = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_failed else 0 end + stamped.silent,
        hour_ok = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ok else 0 end + stamped.answered,
        hour_ms = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ms else 0 end + extract(epoch from now() - stamped.started_at) * 1000 * (stamped.answered + stamped.silent),
        hour_max_ms = greatest(case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_max_ms else 0 end, extract(epoch from now() - stamped.started_at) * 1000 * (stamped.answered + stamped.silent))
    from stamped
    where connector_clock.tenant_id = @tenant_id and connector_clock.connector_id = stamped.id and stamped.state = 'running'
)
update sync_runs
set state = 'error',
    finished_at = now(),
    tools_total = @tools_total,
    tools_quarantined = @tools_quarantined,
    protocol_version = @protocol_version,
    error_code = @error_code,
    error_message = @error_message,
    upstream = sqlc.narg(upstream)
from stamped
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id and sync_runs.state in ('queued', 'running')
  and sync_runs.connector_id = stamped.id
returning sync_runs.*;

-- name: LockRun :one
-- The connector is locked before its run, as at the end of a run.
with locked as (
    select connectors.id
    from connectors
    join sync_runs run on run.tenant_id = connectors.tenant_id and run.connector_id = connectors.id
    where connectors.tenant_id = @tenant_id and run.id = @id
    for no key update of connectors
)
select sync_runs.state
from sync_runs
join locked on locked.id = sync_runs.connector_id
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id
for no key update of sync_runs;

-- name: CancelRun :one
-- Ends a locked run that has not ended. It is no failure of the connector: only its claim is released, and the next scheduled sync
-- comes an interval later. All processes are notified.
with released as (
    update connector_clock
    set claimed_by = null,
        claimed_at = null,
        due_at = case when connector_clock.due_at is not null and connectors.enabled
                 then greatest(connector_clock.due_at, next_due(connectors.sync_interval_s)) end
    from sync_runs run
    join connectors on connectors.tenant_id = run.tenant_id and connectors.id = run.connector_id
    where run.tenant_id = @tenant_id and run.id = @id and run.state = 'running'
      and connector_clock.tenant_id = @tenant_id and connector_clock.connector_id = run.connector_id
      and connector_clock.claimed_by = run.instance_id
), notified as (
    select pg_notify('patchbay_changes', 'sync ' || run.tenant_id || ' ' || run.id)
    from sync_runs run
    where run.tenant_id = @tenant_id and run.id = @id
)
update sync_runs
set state = 'cancelled',
    finished_at = now(),
    cancelled_by = @cancelled_by::text
from notified
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @id and sync_runs.state in ('queued', 'running')
returning sync_runs.*;

-- name: InsertRunRequests :exec
-- No row is inserted if the run was deleted.
insert into sync_run_requests (tenant_id, run_id, requests)
select sync_runs.tenant_id, sync_runs.id, @requests
from sync_runs
where sync_runs.tenant_id = @tenant_id and sync_runs.id = @run_id
on conflict (tenant_id, run_id) do nothing;

-- name: RunRequests :one
select requests
from sync_run_requests
where tenant_id = @tenant_id and run_id = @run_id;
