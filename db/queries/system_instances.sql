-- Which processes are alive, and the end of what dead ones left running.

-- name: Beat :exec
insert into instances (id, keyset_generation)
values (@id, @keyset_generation)
on conflict (id) do update
set beat_at = now(),
    keyset_generation = excluded.keyset_generation;

-- name: ForgetSilentInstances :exec
delete from instances
where beat_at < now() - interval '6 seconds' and id <> @id;

-- name: CloseRunsOfSilentInstances :exec
-- @sqlc-vet-disable tenant-scope
update sync_runs
set state = 'error',
    finished_at = now(),
    error_code = 'interrupted',
    error_message = 'The server stopped during this sync.'
where sync_runs.state = 'running' and sync_runs.instance_id <> @id
  and not exists (
      select from instances
      where instances.id = sync_runs.instance_id and instances.beat_at >= now() - interval '6 seconds');

-- name: EndInstance :exec
delete from instances
where id = @id;

-- name: CloseRunsOf :exec
-- @sqlc-vet-disable tenant-scope
update sync_runs
set state = 'error',
    finished_at = now(),
    error_code = 'interrupted',
    error_message = 'The server stopped during this sync.'
where state = 'running' and instance_id = @instance_id;

-- name: ForgetInstances :exec
delete from instances;

-- name: CloseAllRuns :exec
-- @sqlc-vet-disable tenant-scope
update sync_runs
set state = 'error',
    finished_at = now(),
    error_code = 'interrupted',
    error_message = 'The server stopped during this sync.'
where state = 'running';
