-- name: SSO :one
-- Without the client secret.
select issuer, client_id, groups_claim, joins, default_role, enabled, enforced, break_glass, tested_at, updated_at
from sso_settings
where tenant_id = @tenant_id;

-- name: SSOSecret :one
-- Issuer and client are compared: the settings may have changed.
select issuer, sealed
from sso_settings
where tenant_id = @tenant_id and issuer = @issuer and client_id = @client_id;

-- name: SaveSSO :exec
-- The secret is sealed for this issuer.
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
-- The secret stays. For another issuer it cannot be opened.
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
-- Serializes changes of the settings.
select tenant_id
from sso_settings
where tenant_id = @tenant_id
for update;

-- name: MarkSSOTested :execrows
-- updated_at is compared: only the settings that were tested are marked.
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

-- name: DeleteSSOGroups :exec
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
-- Each insert deletes up to 10 expired flows and skips locked rows.
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

-- name: ConsumeSSOFlow :one
-- A flow is consumed once, by the browser that began it.
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

-- name: ClearBreakGlass :exec
-- The break-glass member can be removed only while single sign-on is not enforced.
update sso_settings
set break_glass = null
where tenant_id = @tenant_id and break_glass = @user_id::uuid and not enforced;

-- name: DeleteSSO :execrows
delete from sso_settings
where tenant_id = @tenant_id;

-- name: DeleteSSOIdentities :exec
delete from sso_identities
where tenant_id = @tenant_id;

-- name: HasUsablePassword :one
-- Reports whether the member has a password and did not join by single sign-on.
select (has_password(memberships.user_id) and not memberships.sso_only)::boolean
from memberships
where memberships.tenant_id = @tenant_id and memberships.user_id = @user_id;
