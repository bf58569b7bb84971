-- The end of a sync after a change of the tool list.

-- name: ChangeTools :exec
-- Existing tools with new definitions.
update tools
set current_hash = new.current_hash,
    accepted_hash = new.accepted_hash,
    review = new.review,
    last_seen_at = now(),
    changed_at = now()
from (select unnest(@names::text[]) as name,
             unnest(@current_hashes::bytea[]) as current_hash,
             unnest(@accepted_hashes::bytea[]) as accepted_hash,
             unnest(@reviews::text[]) as review) new
where tools.tenant_id = @tenant_id and tools.connector_id = @connector_id and tools.name = new.name;

-- name: EndClaimedRun :one
-- Inserts the run of a scheduled sync when it ends; until then only its claim is stored. No row: another process has
-- the claim. The connector is locked before its clock, as everywhere. FinishChangedConnector releases the claim.
with locked as materialized (
    select connectors.id
    from connectors
    where connectors.tenant_id = @tenant_id and connectors.id = @connector_id
    for no key update of connectors
), held as materialized (
    select clock.connector_id, clock.run_id, clock.checks, clock.checked_at
    from connector_clock clock
    join locked on locked.id = clock.connector_id
    where clock.tenant_id = @tenant_id and clock.claimed_by = @instance_id::uuid and clock.claimed_at = @claimed_at::timestamptz
    for no key update of clock
), closed as (
    update sync_runs
    set repeats = held.checks, repeated_at = held.checked_at
    from held
    where sync_runs.tenant_id = @tenant_id and sync_runs.id = held.run_id and held.checks > 0
)
insert into sync_runs (tenant_id, id, connector_id, trigger, state, instance_id, queued_at, started_at, finished_at,
                       tools_total, tools_added, tools_changed, tools_removed, tools_quarantined, item_counts, protocol_version)
select @tenant_id, @id, held.connector_id, 'schedule', 'ok', @instance_id::uuid, @began_at::timestamptz, @began_at::timestamptz, now(),
       @tools_total, @tools_added, @tools_changed, @tools_removed, @tools_quarantined, sqlc.narg(item_counts)::jsonb, @protocol_version
from held
returning sync_runs.*;
