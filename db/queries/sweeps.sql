-- name: NewestSweep :one
-- No row: no sweep exists.
with newest as (
    select sync_runs.sweep_id
    from sync_runs
    where sync_runs.tenant_id = @tenant_id and sync_runs.sweep_id is not null
    order by sync_runs.sweep_id desc
    limit 1
)
select newest.sweep_id::uuid as id,
       count(*)::integer as total,
       (count(*) filter (where runs.state = 'ok'))::integer as ok,
       (count(*) filter (where runs.state = 'error'))::integer as failed,
       (count(*) filter (where runs.state = 'cancelled'))::integer as cancelled,
       coalesce(max(runs.finished_at), 'epoch')::timestamptz as last_at
from newest
join sync_runs runs on runs.tenant_id = @tenant_id and runs.sweep_id = newest.sweep_id
group by newest.sweep_id;
