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

-- name: DismissFirstSteps :execrows
update tenants
set first_steps_dismissed_at = coalesce(first_steps_dismissed_at, now()), updated_at = now()
where tenants.id = @tenant_id;

-- name: FirstSteps :one
-- The oldest of each; empty: none. Of calls only the newest are looked at, so that the cost is bounded; a used token is
-- remembered.
select
    coalesce((select slug from connectors where connectors.tenant_id = @tenant_id order by connectors.id limit 1), '')::text as connector,
    coalesce((select slug from agents where agents.tenant_id = @tenant_id order by agents.id limit 1), '')::text as agent,
    coalesce((
        select agents.slug
        from agent_grants
        join agents on agents.tenant_id = agent_grants.tenant_id and agents.id = agent_grants.agent_id
        where agent_grants.tenant_id = @tenant_id
        order by agents.id
        limit 1), '')::text as granted,
    (exists (
        select from agent_tokens
        where agent_tokens.tenant_id = @tenant_id and agent_tokens.last_used_at is not null)
    or exists (
        select from (
            select tool_calls.source
            from tool_calls
            where tool_calls.tenant_id = @tenant_id
            order by tool_calls.id desc
            limit 100) recent
        where recent.source = 'gateway'))::boolean as used;

-- name: RecordEvent :exec
insert into audit_events (tenant_id, id, actor_type, actor_id, actor_name, action, target, detail, request_id, ip)
values (@tenant_id, @id, @actor_type, @actor_id, @actor_name, @action, @target, @detail, @request_id, @ip);
