-- name: SSO :one
-- Without what is sealed.
select issuer, client_id, groups_claim, joins, default_role, enabled, enforced, break_glass, tested_at, updated_at
from sso_settings
where tenant_id = @tenant_id;

-- name: SSOSecret :one
-- Of this client at this issuer: the settings may be others by now.
select issuer, sealed
from sso_settings
where tenant_id = @tenant_id and issuer = @issuer and client_id = @client_id;

-- name: SaveSSO :exec
-- With a new secret, which is sealed for this issuer.
insert into sso_settings (tenant_id, issuer, client_id, sealed, groups_claim, joins, default_role, enabled, enforced, break_glass, tested_at)
values (@tenant_id, @issuer, @client_id, @sealed, @groups_claim, @joins, @default_role, @enabled, @enforced, @break_glass, @tested_at)
on conflict (tenant_id) do update
set issuer = excluded.issuer,
    client_id = excluded.client_id,
    sealed = excluded.sealed,
    groups_claim = excluded.groups_claim,
    joins = excluded.joins,
    default_role = excluded.default_role,
    enabled = excluded.enabled,
    enforced = excluded.enforced,
    break_glass = excluded.break_glass,
    tested_at = excluded.tested_at,
    updated_at = now();

-- name: UpdateSSO :execrows
-- The secret stays; for another issuer it would not open.
update sso_settings
set issuer = @issuer,
    client_id = @client_id,
    groups_claim = @groups_claim,
    joins = @joins,
    default_role = @default_role,
    enabled = @enabled,
    enforced = @enforced,
    break_glass = @break_glass,
    tested_at = @tested_at,
    updated_at = now()
where tenant_id = @tenant_id;

-- name: LockSSO :exec
-- Held until the transaction ends: two who change the settings do so one after the other.
select tenant_id
from sso_settings
where tenant_id = @tenant_id
for update;

-- name: SSOTested :execrows
-- Only of the settings that were tried.
update sso_settings
set tested_at = @tested_at
where tenant_id = @tenant_id
  and issuer = @issuer
  and client_id = @client_id
  and updated_at = @updated_at;

-- name: SSOGroups :many
select group_name, role
from sso_groups
where tenant_id = @tenant_id
order by group_name;

-- name: ForgetSSOGroups :exec
delete from sso_groups
where tenant_id = @tenant_id;

-- name: AddSSOGroup :exec
insert into sso_groups (tenant_id, group_name, role)
values (@tenant_id, @group_name, @role);

-- name: SSODomains :many
select domain, proof, created_at, verified_at, verified_by
from sso_domains
where tenant_id = @tenant_id
order by domain;

-- name: ClaimSSODomain :execrows
insert into sso_domains (tenant_id, domain, proof)
values (@tenant_id, @domain, @proof)
on conflict (tenant_id, domain) do nothing;

-- name: VerifySSODomain :execrows
update sso_domains
set verified_at = now(), verified_by = @verified_by
where tenant_id = @tenant_id and domain = @domain;

-- name: ReleaseSSODomain :execrows
delete from sso_domains
where tenant_id = @tenant_id and domain = @domain;

-- name: StartSSO :exec
-- Each takes a few that have expired with it, more than it adds, and waits for nobody.
with old as (
    select sso_flows.id
    from sso_flows
    where sso_flows.tenant_id = @tenant_id and sso_flows.expires_at < now()
    order by sso_flows.expires_at
    limit 10
    for update skip locked
), swept as (
    delete from sso_flows
    using old
    where sso_flows.tenant_id = @tenant_id and sso_flows.id = old.id
)
insert into sso_flows (tenant_id, id, browser, issuer, client_id, tester, confirms, return_to, created_at, expires_at)
values (@tenant_id, @id, @browser, @issuer, @client_id, @tester, @confirms, @return_to, @created_at, @expires_at);

-- name: TakeSSOFlow :one
-- Once, and by the browser that began it: whoever comes second finds nothing.
delete from sso_flows
where tenant_id = @tenant_id and id = @id and browser = @browser
returning issuer, client_id, tester, confirms, return_to, created_at, expires_at;

-- name: SSOIdentity :one
select user_id
from sso_identities
where tenant_id = @tenant_id and issuer = @issuer and subject = @subject;

-- name: SSOSubject :one
select subject
from sso_identities
where tenant_id = @tenant_id and issuer = @issuer and user_id = @user_id;

-- name: BindSSO :exec
insert into sso_identities (tenant_id, issuer, subject, user_id)
values (@tenant_id, @issuer, @subject, @user_id)
on conflict (tenant_id, issuer, subject) do update set signed_in_at = now();

-- name: MemberByEmail :one
select users.id, users.address as email, users.name, users.signed_in_at, memberships.role, memberships.created_at, memberships.seen_at,
       (f.confirmed_at is not null)::boolean as second_factor
from memberships
join users on users.id = memberships.user_id
left join second_factors f on f.user_id = users.id
where memberships.tenant_id = @tenant_id and users.address = @email;

-- name: AddSSOMembership :exec
insert into memberships (tenant_id, user_id, role, sso_only)
values (@tenant_id, @user_id, @role, true);

-- name: BreakGlass :one
select break_glass
from sso_settings
where tenant_id = @tenant_id and enforced;

-- name: ForgetBreakGlass :exec
-- Who is kept as the way in for a time when there is no other one, may go while there is.
update sso_settings
set break_glass = null
where tenant_id = @tenant_id and break_glass = @user_id::uuid and not enforced;

-- name: ForgetSSO :execrows
delete from sso_settings
where tenant_id = @tenant_id;

-- name: ForgetSSOIdentities :exec
delete from sso_identities
where tenant_id = @tenant_id;

-- name: PasswordOpens :one
-- Whether a member has a password, and came in another way than by single sign-on.
select (has_password(memberships.user_id) and not memberships.sso_only)::boolean
from memberships
where memberships.tenant_id = @tenant_id and memberships.user_id = @user_id;
