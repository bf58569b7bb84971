-- What of a tenant's history is too old to be kept, a batch at a time. Each statement is small, ends by itself, and leaves alone what
-- another process is at: two that sweep at once share the work.

-- name: SweepCalls :one
-- Those that began before a time and have ended. A call that runs, waits for a person or is an open task stays.
with doomed as materialized (
    select tool_calls.id
    from tool_calls
    where tool_calls.tenant_id = @tenant_id and tool_calls.id > @after_id::uuid and tool_calls.id < @before_id::uuid
      and tool_calls.completed_at is not null
    order by tool_calls.id
    limit @max_rows
    for update skip locked
), gone as (
    delete from tool_calls
    where tool_calls.tenant_id = @tenant_id and tool_calls.id = any(array(select doomed.id from doomed))
    returning tool_calls.id
)
select (select count(*) from gone)::integer as gone,
       coalesce((select doomed.id from doomed order by doomed.id desc limit 1), @after_id::uuid)::uuid as last;

-- name: SweepRuns :one
-- Of a page of runs that began before a time: those that ended before it, repetitions included, but for each connector's newest. seen:
-- how many the page has.
with page as materialized (
    select sync_runs.id, sync_runs.connector_id, sync_runs.state, coalesce(sync_runs.repeated_at, sync_runs.finished_at) as ended_at
    from sync_runs
    where sync_runs.tenant_id = @tenant_id and sync_runs.id > @after_id::uuid and sync_runs.id < @before_id::uuid
    order by sync_runs.id
    limit @max_rows
), doomed as materialized (
    select sync_runs.id
    from sync_runs
    where sync_runs.tenant_id = @tenant_id
      and sync_runs.id = any(array(
          select page.id
          from page
          where page.state in ('ok', 'error') and page.ended_at < @before_at::timestamptz
            and exists (
                select from sync_runs newer
                where newer.tenant_id = @tenant_id and newer.connector_id = page.connector_id and newer.id > page.id
                  and newer.state in ('ok', 'error'))
            and not exists (
                select from connector_clock clock
                where clock.tenant_id = @tenant_id and clock.connector_id = page.connector_id and clock.run_id = page.id)))
    order by sync_runs.id
    for update skip locked
), gone as (
    delete from sync_runs
    where sync_runs.tenant_id = @tenant_id and sync_runs.id = any(array(select doomed.id from doomed))
    returning sync_runs.id
)
select (select count(*) from gone)::integer as gone,
       (select count(*) from page)::integer as seen,
       coalesce((select page.id from page order by page.id desc limit 1), @after_id::uuid)::uuid as last;

-- name: SweepHealth :one
-- The hours before a time of a page of connectors; where max_rows are gone, there may be more of them. seen: how many the page has.
with page as materialized (
    select connectors.id
    from connectors
    where connectors.tenant_id = @tenant_id and connectors.id > @after_id::uuid
    order by connectors.id
    limit @max_connectors
), doomed as materialized (
    select past.connector_id, past.hour
    from connector_health past
    where past.tenant_id = @tenant_id and past.connector_id = any(array(select page.id from page)) and past.hour < @before_at::timestamptz
    order by past.connector_id, past.hour
    limit @max_rows
    for update skip locked
), gone as (
    delete from connector_health
    using doomed
    where connector_health.tenant_id = @tenant_id and connector_health.connector_id = doomed.connector_id and connector_health.hour = doomed.hour
    returning connector_health.hour
)
select (select count(*) from gone)::integer as gone,
       (select count(*) from page)::integer as seen,
       coalesce((select page.id from page order by page.id desc limit 1), @after_id::uuid)::uuid as last;

-- name: SweepChanges :one
-- Of a page of changes that were met before a time: those that were decided before it. What still says how a tool came to be as it is stays:
-- its newest change, and the newest that brought the definition that it has or that was accepted.
with page as materialized (
    select tool_changes.id, tool_changes.connector_id, tool_changes.tool, tool_changes.state, tool_changes.after_hash,
           coalesce(tool_changes.decided_at, tool_changes.seen_at) as ended_at
    from tool_changes
    where tool_changes.tenant_id = @tenant_id and tool_changes.id > @after_id::uuid and tool_changes.id < @before_id::uuid
    order by tool_changes.id
    limit @max_rows
), doomed as materialized (
    select tool_changes.id
    from tool_changes
    where tool_changes.tenant_id = @tenant_id
      and tool_changes.id = any(array(
          select page.id
          from page
          where page.state <> 'waiting' and page.ended_at < @before_at::timestamptz
            and exists (
                select from tool_changes newer
                where newer.tenant_id = @tenant_id and newer.connector_id = page.connector_id and newer.tool = page.tool and newer.id > page.id)
            and not exists (
                select from tools
                where tools.tenant_id = @tenant_id and tools.connector_id = page.connector_id and tools.name = page.tool
                  and page.after_hash in (tools.current_hash, tools.accepted_hash)
                  and not exists (
                      select from tool_changes again
                      where again.tenant_id = @tenant_id and again.connector_id = page.connector_id and again.tool = page.tool
                        and again.id > page.id and again.after_hash = page.after_hash))))
    order by tool_changes.id
    for update skip locked
), gone as (
    delete from tool_changes
    where tool_changes.tenant_id = @tenant_id and tool_changes.id = any(array(select doomed.id from doomed))
    returning tool_changes.id
)
select (select count(*) from gone)::integer as gone,
       (select count(*) from page)::integer as seen,
       coalesce((select page.id from page order by page.id desc limit 1), @after_id::uuid)::uuid as last;

-- name: UnusedDefinitions :many
-- Some definitions that nothing refers to, by their hashes. Tools have no index by definition, which each sync would have to keep: all of
-- the tenant's are read once, and as sets, so that it stays once whatever the planner believes.
select tool_definitions.hash
from tool_definitions
where tool_definitions.tenant_id = @tenant_id and tool_definitions.hash > @after_hash::bytea
except (
    select tools.current_hash from tools where tools.tenant_id = @tenant_id
    union all
    select tools.accepted_hash from tools where tools.tenant_id = @tenant_id
    union all
    select tool_changes.after_hash from tool_changes where tool_changes.tenant_id = @tenant_id
    union all
    select tool_changes.before_hash from tool_changes where tool_changes.tenant_id = @tenant_id
    union all
    select approvals.definition_hash from approvals where approvals.tenant_id = @tenant_id)
order by hash
limit @max_rows;

-- name: LockDefinitions :many
-- Those of them that were stored before a time. A sync that finds one of them again waits until it is gone, and stores it anew.
select tool_definitions.hash
from tool_definitions
where tool_definitions.tenant_id = @tenant_id and tool_definitions.hash = any(@hashes::bytea[]) and tool_definitions.created_at < @before_at::timestamptz
order by tool_definitions.hash
for update skip locked;

-- name: DropDefinitions :execrows
-- Locked ones that nothing refers to: whoever was here before the lock may have brought a tool or a change. No key would hold them.
with unused as materialized (
    select tool_definitions.hash
    from tool_definitions
    where tool_definitions.tenant_id = @tenant_id and tool_definitions.hash = any(@hashes::bytea[])
    except (
        select tools.current_hash from tools where tools.tenant_id = @tenant_id
        union all
        select tools.accepted_hash from tools where tools.tenant_id = @tenant_id
        union all
        select tool_changes.after_hash from tool_changes where tool_changes.tenant_id = @tenant_id and tool_changes.after_hash = any(@hashes::bytea[])
        union all
        select tool_changes.before_hash from tool_changes where tool_changes.tenant_id = @tenant_id and tool_changes.before_hash = any(@hashes::bytea[])
        union all
        select approvals.definition_hash from approvals where approvals.tenant_id = @tenant_id)
)
delete from tool_definitions
where tool_definitions.tenant_id = @tenant_id and tool_definitions.hash = any(array(select unused.hash from unused));

-- name: SweepKeys :one
-- API keys and agents' tokens that have been of no use since before a time.
with keys as (
    delete from api_keys
    where api_keys.tenant_id = @tenant_id and least(api_keys.revoked_at, api_keys.expires_at) < @before_at::timestamptz
    returning api_keys.id
), tokens as (
    delete from agent_tokens
    where agent_tokens.tenant_id = @tenant_id and agent_tokens.expires_at < @before_at::timestamptz
    returning agent_tokens.id
)
select ((select count(*) from keys) + (select count(*) from tokens))::integer as gone;

-- name: OldestHistory :one
-- When the oldest call, run or change was; 'epoch': there is none.
select coalesce(least(
    (select tool_calls.started_at from tool_calls where tool_calls.tenant_id = @tenant_id order by tool_calls.id limit 1),
    (select sync_runs.queued_at from sync_runs where sync_runs.tenant_id = @tenant_id order by sync_runs.id limit 1),
    (select tool_changes.seen_at from tool_changes where tool_changes.tenant_id = @tenant_id order by tool_changes.id limit 1)
), 'epoch')::timestamptz as at;

-- name: SetHistoryDays :execrows
update tenants
set history_days = @history_days, updated_at = now()
where tenants.id = @tenant_id;
