-- Live processes, and cleanup after dead ones.

-- name: RecordHeartbeat :exec
insert into instances (id, keyset_generation, kek, tenant_keys, user_passwords, account_names, token_exchange)
values (@id, @keyset_generation, @kek, true, true, true, true)
on conflict (id) do update
set steady_since = case when instances.beat_at < now() - interval '4 seconds' then now() else instances.steady_since end,
    beat_at = now(),
    keyset_generation = excluded.keyset_generation,
    kek = excluded.kek,
    tenant_keys = true,
    user_passwords = true,
    account_names = true,
    token_exchange = true;

-- name: DeleteSilentInstances :exec
-- A process without a row is dead for all others. After a gap in its own heartbeats a process deletes none for 6
-- seconds: the database may have been away for all.
delete from instances
where instances.beat_at < now() - interval '6 seconds' and instances.id <> @id
  and exists (
      select from instances judge
      where judge.id = @id and judge.steady_since < now() - interval '6 seconds');

-- name: CloseRunsOfSilentInstances :exec
-- @sqlc-vet-disable tenant-scope
with closed as (
    update sync_runs
    set state = 'error',
        finished_at = now(),
        error_code = 'interrupted',
        error_message = 'Patchbay stopped during this sync.'
    where sync_runs.state = 'running' and sync_runs.instance_id <> @id
      and not exists (select from instances where instances.id = sync_runs.instance_id)
    returning sync_runs.tenant_id, sync_runs.connector_id, sync_runs.instance_id
)
update connector_clock
set claimed_by = null, claimed_at = null
from closed
where connector_clock.tenant_id = closed.tenant_id and connector_clock.connector_id = closed.connector_id
  and connector_clock.claimed_by = closed.instance_id;

-- name: EndInstance :exec
delete from instances
where id = @id;

-- name: CloseRunsOfInstance :exec
-- @sqlc-vet-disable tenant-scope
update sync_runs
set state = 'error',
    finished_at = now(),
    error_code = 'interrupted',
    error_message = 'Patchbay stopped during this sync.'
where state = 'running' and instance_id = @instance_id;

-- name: DeleteInstances :exec
delete from instances;

-- name: CloseAllRuns :exec
-- @sqlc-vet-disable tenant-scope
update sync_runs
set state = 'error',
    finished_at = now(),
    error_code = 'interrupted',
    error_message = 'Patchbay stopped during this sync.'
where state = 'running';

-- name: OtherInstances :one
select count(*)
from instances
where id <> @id;

-- name: CancelledRuns :many
-- Those of the runs that were cancelled.
-- @sqlc-vet-disable tenant-scope
select sync_runs.id
from (select unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@ids::uuid[]) as id) run
join sync_runs on sync_runs.tenant_id = run.tenant_id and sync_runs.id = run.id
where sync_runs.state = 'cancelled';
