-- name: Tenant :one
select tenants.*
from tenants
where tenants.id = @tenant_id;

-- name: RenameTenant :execrows
update tenants
set name = @name, updated_at = now()
where tenants.id = @tenant_id;

-- name: SetCallSettings :execrows
update tenants
set call_history = @call_history, body_readers = @body_readers, approval_timeout_s = @approval_timeout_s, updated_at = now()
where tenants.id = @tenant_id;

-- name: SetDownAfter :execrows
update tenants
set down_after_failures = @failures, down_after_minutes = @minutes, updated_at = now()
where tenants.id = @tenant_id;

-- name: RefuseInvalidResults :execrows
update tenants
set refuse_invalid_results = @refuse, updated_at = now()
where tenants.id = @tenant_id;

-- name: RequireSecondFactor :execrows
update tenants
set second_factor_required = @required, updated_at = now()
where tenants.id = @tenant_id;

-- name: SetTenantDefaults :execrows
update tenants
set default_approval = @approval,
    default_sync_interval_s = @sync_interval_s,
    default_definition_age_s = @definition_age_s,
    default_tool_changes = @tool_changes,
    default_listen = @listen,
    updated_at = now()
where tenants.id = @tenant_id;

-- name: RecordEvent :exec
insert into audit_events (tenant_id, id, actor_type, actor_id, actor_name, action, target, detail, request_id, ip)
values (@tenant_id, @id, @actor_type, @actor_id, @actor_name, @action, @target, @detail, @request_id, @ip);
