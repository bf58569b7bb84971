-- Where the members of a tenant are signed in.

-- name: MemberSessions :many
-- The last used first; those that lapsed are left out.
select browser_sessions.id, browser_sessions.user_agent, browser_sessions.address, browser_sessions.began_at, browser_sessions.seen_at,
       coalesce(browser_sessions.sso_tenant_id = memberships.tenant_id, false)::boolean as sso
from browser_sessions
join memberships on memberships.tenant_id = @tenant_id and memberships.user_id = browser_sessions.user_id
where browser_sessions.user_id = @user_id
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

-- name: EndMemberSessions :exec
-- Programs that act as the person are over, too, in whichever tenant.
with noted as (
    update users
    set signed_out_at = clock_timestamp()
    from memberships
    where memberships.tenant_id = @tenant_id and memberships.user_id = users.id and users.id = @user_id
)
delete from browser_sessions
using memberships
where memberships.tenant_id = @tenant_id
  and memberships.user_id = browser_sessions.user_id
  and browser_sessions.user_id = @user_id;

-- name: EndSSOSessions :exec
-- Those that began at this tenant's provider.
delete from browser_sessions
using memberships
where memberships.tenant_id = @tenant_id
  and memberships.user_id = browser_sessions.user_id
  and browser_sessions.sso_tenant_id = memberships.tenant_id;
