-- Browser sessions of a tenant's members.

-- name: MemberSessions :many
-- Last used first. Expired sessions, and those that an owner ended for this tenant, are excluded.
select browser_sessions.id, browser_sessions.user_agent, browser_sessions.address, browser_sessions.began_at, browser_sessions.seen_at,
       coalesce(browser_sessions.sso_tenant_id = memberships.tenant_id, false)::boolean as sso
from browser_sessions
join memberships on memberships.tenant_id = @tenant_id and memberships.user_id = browser_sessions.user_id
where browser_sessions.user_id = @user_id
  and (memberships.signed_out_at is null or browser_sessions.opened_at > memberships.signed_out_at)
  and browser_sessions.began_at > @began_after
  and browser_sessions.seen_at > @seen_after
order by browser_sessions.seen_at desc, browser_sessions.id desc
limit @max_rows;

-- name: EndMemberSession :execrows
delete from browser_sessions
using memberships
where memberships.tenant_id = @tenant_id
  and memberships.user_id = browser_sessions.user_id
  and browser_sessions.user_id = @user_id
  and browser_sessions.id = @id;

-- name: SignMemberOut :execrows
update memberships
set signed_out_at = clock_timestamp()
where tenant_id = @tenant_id and user_id = @user_id;

-- name: EndSSOSessions :exec
-- Sessions that began with this tenant's identity provider.
delete from browser_sessions
using memberships
where memberships.tenant_id = @tenant_id
  and memberships.user_id = browser_sessions.user_id
  and browser_sessions.sso_tenant_id = memberships.tenant_id;
