-- Browser sessions, before the tenant is known.

-- name: BeginBrowserSession :exec
insert into browser_sessions (id, user_id, user_agent, address, began_at, seen_at, sso_tenant_id, second_factor, confirmed_at)
values (@id, @user_id, @user_agent, @address, @began_at, @began_at, sqlc.narg(sso_tenant_id), @second_factor, sqlc.narg(confirmed_at));

-- name: SessionMemberships :many
-- The user of the session and the tenants it opens. No row: the session ended, or opens no tenant.
-- @sqlc-vet-disable tenant-scope
select sqlc.embed(tenants), memberships.role, users.address as email, users.name, users.password_set_at, (users.issued_by is not null)::boolean as issued,
       coalesce(sso.enabled, false)::boolean as sso,
       (memberships.sso_only or coalesce(sso.enforced and sso.break_glass <> memberships.user_id, false))::boolean as sso_only,
       (f.confirmed_at is not null)::boolean as second_factor,
       browser_sessions.began_at, browser_sessions.seen_at, browser_sessions.second_factor as proven,
       browser_sessions.confirmed_at
from browser_sessions
join memberships on memberships.user_id = browser_sessions.user_id
join tenants on tenants.id = memberships.tenant_id
join users on users.id = browser_sessions.user_id
left join sso_settings sso on sso.tenant_id = memberships.tenant_id
left join second_factors f on f.user_id = memberships.user_id
where browser_sessions.id = @id and browser_sessions.user_id = @user_id
  and (memberships.signed_out_at is null or browser_sessions.opened_at > memberships.signed_out_at)
order by lower(tenants.name), tenants.id;

-- name: TouchBrowserSession :exec
update browser_sessions
set seen_at = greatest(seen_at, @seen_at), address = case when @address::text = '' then address else @address::text end
where id = @id;

-- name: ConfirmBrowserSession :exec
update browser_sessions
set confirmed_at = greatest(confirmed_at, @confirmed_at::timestamptz)
where id = @id;

-- name: EndBrowserSession :execrows
delete from browser_sessions
where id = @id;

-- name: EndOtherBrowserSessions :exec
-- signed_out_at also ends OAuth clients that act as the user.
with noted as (
    update users
    set signed_out_at = clock_timestamp()
    where users.id = @user_id
)
delete from browser_sessions
where browser_sessions.user_id = @user_id and browser_sessions.id <> @kept;

-- name: DeleteOldBrowserSessions :exec
-- 90 days is the maximum that the configuration allows.
delete from browser_sessions
where began_at < now() - interval '90 days';
