-- The streams on which servers say that their lists have changed, as a tenant sees them.

-- name: Listenings :many
select upstream_listeners.*
from upstream_listeners
where tenant_id = @tenant_id and connector_id = any(@connector_ids::uuid[]);

-- name: ListenAgain :exec
-- Only what is off or waits: a stream that is open stays.
update upstream_listeners
set state = 'waiting',
    since = now(),
    due_at = now(),
    reason = '',
    failures = 0,
    vain = 0
where tenant_id = @tenant_id and connector_id = @connector_id and instance_id is null;

-- name: KeepListening :execrows
-- The stream is open.
update upstream_listeners
set state = 'listening',
    since = now(),
    reason = '',
    credential_id = @credential_id,
    credential_version = @credential_version
where tenant_id = @tenant_id and connector_id = @connector_id and instance_id = @instance_id;

-- name: StopListening :exec
-- due_s null: not before a person says so. missed: what a server says from now on nobody hears.
update upstream_listeners
set instance_id = null,
    missed = missed or state = 'listening',
    state = @state,
    since = now(),
    due_at = now() + make_interval(secs => sqlc.narg(due_s)::double precision),
    reason = @reason,
    failures = @failures
where tenant_id = @tenant_id and connector_id = @connector_id and instance_id = @instance_id;

-- name: NoteChanged :exec
-- notified 0: the server said nothing, and a sync was asked for because it may have.
update upstream_listeners
set notified = notified + @notified,
    last_notified_at = case when @notified > 0 then @heard_at else last_notified_at end,
    vain = @vain,
    missed = missed and not @asked::boolean
where tenant_id = @tenant_id and connector_id = @connector_id and instance_id = @instance_id;

-- name: ListsHash :one
-- Of the tools, and of the prompts and resources, as last read.
select (coalesce(tools_hash, '') || coalesce(items_hash, ''))::bytea as lists_hash
from connectors
where tenant_id = @tenant_id and id = @id;

-- name: PassOn :execrows
-- Every process hears what the connector's server said.
select pg_notify('patchbay_changes', @kind::text || ' ' || tenant_id || ' ' || id)
from connectors
where tenant_id = @tenant_id and id = @id;
