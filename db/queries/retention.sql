-- Deletion of expired history in batches. Each statement is bounded by max_rows and skips locked rows, so that
-- processes can run it concurrently.

-- name: SweepCalls :one
-- Only ended calls. Running calls, pending approvals and open tasks stay.
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
-- Runs that ended before before_at, repetitions included, except the newest of each connector. seen: the rows of the
-- page.
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
          where page.state in ('ok', 'error', 'cancelled') and page.ended_at < @before_at::timestamptz
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
-- Hours of a page of connectors. gone = max_rows: more rows may exist. seen: the connectors of the page.
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
-- Changes decided before before_at. Two stay for each tool: its newest change, and the newest that brought the current
-- or the accepted definition.
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
-- Definitions without a reference, by hash. An index of tools by definition would cost every sync. Instead the tenant's
-- tools are read once as a set, independent of the plan.
select tool_definitions.hash
from tool_definitions
where tool_definitions.tenant_id = @tenant_id and tool_definitions.hash > @after_hash::bytea
except (
    select tools.current_hash from tools where tools.tenant_id = @tenant_id
    union all
    select tools.accepted_hash from tools where tools.tenant_id = @tenant_id
    union all
    select skills.current_hash from skills where skills.tenant_id = @tenant_id
    union all
    select skills.accepted_hash from skills where skills.tenant_id = @tenant_id
    union all
    select tool_changes.after_hash from tool_changes where tool_changes.tenant_id = @tenant_id
    union all
    select tool_changes.before_hash from tool_changes where tool_changes.tenant_id = @tenant_id
    union all
    select approvals.definition_hash from approvals where approvals.tenant_id = @tenant_id)
order by hash
limit @max_rows;

-- name: LockDefinitions :many
-- Only definitions stored before before_at. A concurrent sync that needs one waits for the deletion and inserts it
-- again.
select tool_definitions.hash
from tool_definitions
where tool_definitions.tenant_id = @tenant_id and tool_definitions.hash = any(@hashes::bytea[]) and tool_definitions.created_at < @before_at::timestamptz
order by tool_definitions.hash
for update skip locked;

-- name: DeleteDefinitions :execrows
-- References are checked again under the lock: a sync may have added one before it. No foreign key prevents the
-- deletion.
with unused as materialized (
    select tool_definitions.hash
    from tool_definitions
    where tool_definitions.tenant_id = @tenant_id and tool_definitions.hash = any(@hashes::bytea[])
    except (
        select tools.current_hash from tools where tools.tenant_id = @tenant_id
        union all
        select tools.accepted_hash from tools where tools.tenant_id = @tenant_id
        union all
        select skills.current_hash from skills where skills.tenant_id = @tenant_id
        union all
        select skills.accepted_hash from skills where skills.tenant_id = @tenant_id
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
-- API keys and agent tokens that were revoked or expired before before_at.
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
-- The time of the oldest call, run or change. 'epoch': the history is empty.
select coalesce(least(
    (select tool_calls.started_at from tool_calls where tool_calls.tenant_id = @tenant_id order by tool_calls.id limit 1),
    (select sync_runs.queued_at from sync_runs where sync_runs.tenant_id = @tenant_id order by sync_runs.id limit 1),
    (select tool_changes.seen_at from tool_changes where tool_changes.tenant_id = @tenant_id order by tool_changes.id limit 1)
), 'epoch')::timestamptz as at;

-- name: SetHistoryDays :execrows
update tenants
set history_days = @history_days, updated_at = now()
where tenants.id = @tenant_id;
