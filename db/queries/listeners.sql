-- Listening streams of a tenant's connectors: servers announce list changes on them.

-- name: Listenings :many
select upstream_listeners.*
from upstream_listeners
where tenant_id = @tenant_id and connector_id = any(@connector_ids::uuid[]);

-- name: RestartListener :exec
-- An open stream has an owner, and is not restarted.
update upstream_listeners
set state = 'waiting',
    since = now(),
    due_at = now(),
    reason = '',
    failures = 0,
    vain = 0
where tenant_id = @tenant_id and connector_id = @connector_id and instance_id is null;

-- name: MarkListening :execrows
update upstream_listeners
set state = 'listening',
    since = now(),
    reason = '',
    credential_id = @credential_id,
    credential_version = @credential_version
where tenant_id = @tenant_id and connector_id = @connector_id and instance_id = @instance_id;

-- name: ReleaseListener :exec
-- due_s null: only a manual restart makes it due. missed is set if the stream was open: changes are not received from
-- now on.
update upstream_listeners
set instance_id = null,
    missed = missed or state = 'listening',
    state = @state,
    since = now(),
    due_at = now() + make_interval(secs => sqlc.narg(due_s)::double precision),
    reason = @reason,
    failures = @failures
where tenant_id = @tenant_id and connector_id = @connector_id and instance_id = @instance_id;

-- name: RecordListChanged :exec
-- notified 0: no notification was received, and the sync was requested because one may have been lost.
update upstream_listeners
set notified = notified + @notified,
    last_notified_at = case when @notified > 0 then @heard_at else last_notified_at end,
    vain = @vain,
    missed = missed and not @asked::boolean
where tenant_id = @tenant_id and connector_id = @connector_id and instance_id = @instance_id;

-- name: ListsHash :one
-- The hashes of the tools, of prompts and resources, and of skills, as of the last sync.
select (coalesce(tools_hash, '') || coalesce(items_hash, '') || coalesce(skills_hash, ''))::bytea as lists_hash
from connectors
where tenant_id = @tenant_id and id = @id;

-- name: NotifyListChanged :execrows
-- Sends the change to all processes.
select pg_notify('patchbay_changes', @kind::text || ' ' || tenant_id || ' ' || id)
from connectors
where tenant_id = @tenant_id and id = @id;
