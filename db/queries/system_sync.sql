-- Which connectors are due for a sync by themselves.

-- name: ClaimDue :many
-- Moves the due connectors' next time on, so that no other replica claims them. One that waits for a person is left alone:
-- its credential would be refused again. A little jitter keeps connectors that were made together from being due together.
-- @sqlc-vet-disable tenant-scope
with due as (
    select connectors.tenant_id, connectors.id
    from connectors
    where connectors.next_sync_at <= now() and connectors.enabled and connectors.sync_interval_s > 0
      and connectors.status <> 'needs_auth'
    order by connectors.next_sync_at
    limit @max_rows
    for no key update skip locked
)
update connectors
set next_sync_at = now() + make_interval(secs => connectors.sync_interval_s * (0.95 + 0.1 * random()))
from due
where connectors.tenant_id = due.tenant_id and connectors.id = due.id
returning connectors.tenant_id, connectors.id;

-- name: QueueDueRuns :many
-- One that is queued already is left as it is.
-- @sqlc-vet-disable tenant-scope
insert into sync_runs (tenant_id, id, connector_id, trigger, state)
select new.tenant_id, new.id, new.connector_id, 'schedule', 'queued'
from (select unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@ids::uuid[]) as id, unnest(@connector_ids::uuid[]) as connector_id) new
on conflict (tenant_id, connector_id) where state = 'queued' do nothing
returning sync_runs.tenant_id, sync_runs.id, sync_runs.connector_id;
