-- Assignment of listening streams to processes, across tenants.

-- name: ListenersToReview :many
-- Connectors with a missing, a superfluous or an outdated row. Servers declare listChanged in their capabilities. It
-- runs at the start, and finds changes after a lost notification.
-- @sqlc-vet-disable tenant-scope
select connectors.tenant_id, connectors.id
from connectors
left join upstream_listeners
    on upstream_listeners.tenant_id = connectors.tenant_id and upstream_listeners.connector_id = connectors.id
where (upstream_listeners.connector_id is not null)
          <> (connectors.enabled and connectors.listen = 'auto' and connectors.transport in ('streamable_http', 'sse')
              and coalesce(encode(connectors.server_capabilities, 'escape') ~ '"listChanged"\s*:\s*true', false))
   or upstream_listeners.instance_id is null and upstream_listeners.version <> connectors.version
limit @max_rows;

-- name: AddListeners :exec
-- @sqlc-vet-disable tenant-scope
insert into upstream_listeners (tenant_id, connector_id, version)
select connectors.tenant_id, connectors.id, connectors.version
from (select unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@ids::uuid[]) as id) moved
join connectors on connectors.tenant_id = moved.tenant_id and connectors.id = moved.id
where connectors.enabled and connectors.listen = 'auto' and connectors.transport in ('streamable_http', 'sse')
  and encode(connectors.server_capabilities, 'escape') ~ '"listChanged"\s*:\s*true'
on conflict on constraint upstream_listeners_pkey do nothing;

-- name: DeleteListeners :exec
-- The owner of the stream notices that the row is gone.
-- @sqlc-vet-disable tenant-scope
delete from upstream_listeners
using (select unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@ids::uuid[]) as id) moved,
      connectors
where connectors.tenant_id = moved.tenant_id and connectors.id = moved.id
  and upstream_listeners.tenant_id = moved.tenant_id and upstream_listeners.connector_id = moved.id
  and not (connectors.enabled and connectors.listen = 'auto' and connectors.transport in ('streamable_http', 'sse')
           and coalesce(encode(connectors.server_capabilities, 'escape') ~ '"listChanged"\s*:\s*true', false));

-- name: ResetListeners :exec
-- New settings may mean another server, so the failure counts are reset. The owner of an open stream compares the
-- version itself.
-- @sqlc-vet-disable tenant-scope
update upstream_listeners
set state = 'waiting',
    since = now(),
    due_at = now(),
    reason = '',
    version = connectors.version,
    failures = 0,
    vain = 0
from (select unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@ids::uuid[]) as id) moved,
     connectors
where connectors.tenant_id = moved.tenant_id and connectors.id = moved.id
  and upstream_listeners.tenant_id = moved.tenant_id and upstream_listeners.connector_id = moved.id
  and upstream_listeners.instance_id is null and upstream_listeners.version <> connectors.version;

-- name: RetryUnauthorizedListeners :exec
-- Streams that wait for a credential are due after credentials changed.
-- @sqlc-vet-disable tenant-scope
update upstream_listeners
set state = 'waiting',
    since = now(),
    due_at = now(),
    reason = ''
from (select unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@ids::uuid[]) as id) moved
where upstream_listeners.tenant_id = moved.tenant_id and upstream_listeners.connector_id = moved.id
  and upstream_listeners.instance_id is null and upstream_listeners.reason = 'unauthorized';

-- name: ClaimListeners :many
-- Free and due rows, the longest due first. reason: of the last wait. missed: the stream was open before and has no
-- owner since; it stays set until a sync is requested. held: connectors with an open stream of this process;
-- ReclaimListeners is for them.
-- @sqlc-vet-disable tenant-scope
with due as (
    select upstream_listeners.tenant_id, upstream_listeners.connector_id, upstream_listeners.reason, upstream_listeners.missed or upstream_listeners.state = 'listening' as missed
    from upstream_listeners
    where upstream_listeners.instance_id is null and upstream_listeners.due_at <= now()
      and upstream_listeners.connector_id <> all(@held::uuid[])
    order by upstream_listeners.due_at
    limit @max_rows
    for no key update skip locked
)
update upstream_listeners
set instance_id = @instance_id,
    state = 'waiting',
    reason = '',
    missed = due.missed,
    version = connectors.version,
    credential_id = null,
    credential_version = 0
from due, connectors
where upstream_listeners.tenant_id = due.tenant_id and upstream_listeners.connector_id = due.connector_id
  and connectors.tenant_id = due.tenant_id and connectors.id = due.connector_id
returning upstream_listeners.tenant_id, upstream_listeners.connector_id, due.reason, upstream_listeners.missed, upstream_listeners.failures, upstream_listeners.vain;

-- name: ReclaimListeners :many
-- Takes rows of open streams back. They became free because the process seemed dead, and no other process claimed them.
-- @sqlc-vet-disable tenant-scope
update upstream_listeners
set instance_id = @instance_id
from (select unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@ids::uuid[]) as id) open
where upstream_listeners.tenant_id = open.tenant_id and upstream_listeners.connector_id = open.id
  and upstream_listeners.instance_id is null and upstream_listeners.state = 'listening'
returning upstream_listeners.tenant_id, upstream_listeners.connector_id;

-- name: OwnedListeners :many
-- stale: settings, credential or the choice of the account changed after the stream was opened.
-- @sqlc-vet-disable tenant-scope
select upstream_listeners.tenant_id,
       upstream_listeners.connector_id,
       (connectors.version <> upstream_listeners.version
        or upstream_listeners.credential_id is not null
           and (credentials.id is null or credentials.status <> 'active'
                or credentials.version <> upstream_listeners.credential_version
                or not credentials.syncs and exists (select from credentials chosen
                                                     where chosen.tenant_id = upstream_listeners.tenant_id and chosen.connector_id = upstream_listeners.connector_id
                                                       and chosen.syncs and (chosen.agent_id is null) = (credentials.agent_id is null))))::boolean as stale
from upstream_listeners
join connectors on connectors.tenant_id = upstream_listeners.tenant_id and connectors.id = upstream_listeners.connector_id
left join credentials on credentials.tenant_id = upstream_listeners.tenant_id and credentials.id = upstream_listeners.credential_id
where upstream_listeners.instance_id = @instance_id;

-- name: ReleaseListeners :exec
-- For a process that stops. missed makes the next owner request a sync of the lists.
-- @sqlc-vet-disable tenant-scope
update upstream_listeners
set instance_id = null,
    missed = missed or state = 'listening',
    state = 'waiting',
    since = now(),
    due_at = now()
where instance_id = @instance_id;
