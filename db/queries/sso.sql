-- name: SSO :one
-- Without the client secret.
select issuer, client_id, groups_claim, joins, default_role, enabled, enforced, break_glass, tested_at, updated_at, managed_accounts, managed_clients
from sso_settings
where tenant_id = @tenant_id;

-- name: SSOSecret :one
-- Issuer and client are compared: the settings may have changed.
select issuer, sealed
from sso_settings
where tenant_id = @tenant_id and issuer = @issuer and client_id = @client_id;

-- name: SaveSSO :exec
-- The secret is sealed for this issuer.
insert into sso_settings (tenant_id, issuer, client_id, sealed, groups_claim, joins, default_role, enabled, enforced, break_glass, tested_at,
                          managed_accounts, managed_clients)
values (@tenant_id, @issuer, @client_id, @sealed, @groups_claim, @joins, @default_role, @enabled, @enforced, @break_glass, @tested_at,
        @managed_accounts, @managed_clients)
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
    managed_accounts = excluded.managed_accounts,
    managed_clients = excluded.managed_clients,
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
    managed_accounts = @managed_accounts,
    managed_clients = @managed_clients,
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
insert into sso_identities (tenant_id, issuer, subject, user_id, email)
values (@tenant_id, @issuer, @subject, @user_id, @email)
on conflict (tenant_id, issuer, subject) do update set signed_in_at = now(), email = excluded.email;

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

-- name: SaveSSOTokens :exec
insert into sso_tokens (tenant_id, user_id, issuer, sealed)
values (@tenant_id, @user_id, @issuer, @sealed)
on conflict on constraint sso_tokens_pkey do update
set issuer = excluded.issuer,
    sealed = excluded.sealed,
    signed_in_at = now();

-- name: SSOTokens :one
-- Only while the provider and the setting are what they were at the sign-in.
select t.sealed, t.issuer, s.client_id, s.sealed as client_sealed
from sso_tokens t
join sso_settings s on s.tenant_id = t.tenant_id and s.issuer = t.issuer
where t.tenant_id = @tenant_id and t.user_id = @user_id and s.enabled and s.managed_accounts;

-- name: ManagedMember :one
-- The member that an agent belongs to, if the member's sign-in can give it an account at the connector: only the member's own programs
-- act as the agent, and no person has disconnected the account.
select p.user_id
from personal_agents p
join sso_tokens t on t.tenant_id = p.tenant_id and t.user_id = p.user_id
join sso_settings s on s.tenant_id = t.tenant_id and s.issuer = t.issuer
where p.tenant_id = @tenant_id and p.agent_id = @agent_id and s.enabled and s.managed_accounts
  and not (@connector_id::uuid = any(p.disconnected))
  and not exists (select 1
                  from agent_tokens
                  where agent_tokens.tenant_id = p.tenant_id and agent_tokens.agent_id = p.agent_id and agent_tokens.agent_client_id is null)
  and not exists (select 1
                  from agent_workloads
                  where agent_workloads.tenant_id = p.tenant_id and agent_workloads.agent_id = p.agent_id)
  and not exists (select 1
                  from agent_clients
                  where agent_clients.tenant_id = p.tenant_id and agent_clients.agent_id = p.agent_id and agent_clients.user_id <> p.user_id);

-- name: EndManagedAccounts :many
-- Another person lets programs act as the agent.
update credentials
set status = 'revoked',
    error = case when grant_meta -> 'exchange' is null then @error::text else @exchange_error::text end,
    upstream = null,
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = version + 1,
    updated_at = now()
where tenant_id = @tenant_id and agent_id = @agent_id::uuid and member_id is not null and status in ('active', 'refresh_failed')
  and member_id is distinct from sqlc.narg(by_member)
returning connector_id;

-- name: RecordDisconnected :exec
update personal_agents
set disconnected = array_append(disconnected, @connector_id::uuid)
where tenant_id = @tenant_id and agent_id = @agent_id and not (@connector_id::uuid = any(disconnected));

-- name: DeleteSSOTokens :exec
delete from sso_tokens
where tenant_id = @tenant_id;

-- name: DeleteManagedAccounts :many
delete from credentials
where tenant_id = @tenant_id and member_id is not null and grant_meta -> 'exchange' is null
returning connector_id;

-- name: RenewManagedAccounts :many
-- A member signed in again: the next use of an ended account requests a token.
update credentials
set status = 'active',
    error = '',
    upstream = null,
    expires_at = now(),
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = version + 1,
    updated_at = now()
where tenant_id = @tenant_id and member_id = @member_id and grant_meta -> 'exchange' is null and status in ('revoked', 'refresh_failed')
returning connector_id;

-- name: AddManagedAccount :execrows
-- An account without a token: its first use requests one. An account that exists stays.
insert into credentials (tenant_id, id, connector_id, agent_id, type, origin, sealed, account, grant_meta, connected_at, expires_at, member_id)
select p.tenant_id, @id::uuid, @connector_id::uuid, p.agent_id, 'oauth2', @origin::text, @sealed::bytea, users.address, @grant_meta::jsonb, now(), now(),
       p.user_id
from personal_agents p
join users on users.id = p.user_id
where p.tenant_id = @tenant_id and p.agent_id = @agent_id and p.user_id = @user_id and not (@connector_id::uuid = any(p.disconnected))
on conflict on constraint credentials_owner_key do nothing;

-- name: PinManagedIssuer :one
-- The first issuer stays until an admin confirms another one.
with pinned as (
    update connectors
    set managed_issuer = @issuer
    where connectors.tenant_id = @tenant_id and connectors.id = @id and managed_issuer <> @issuer and (managed_issuer = '' or @confirmed::boolean)
    returning managed_issuer
)
select coalesce((select pinned.managed_issuer from pinned), connectors.managed_issuer)::text as issuer
from connectors
where connectors.tenant_id = @tenant_id and connectors.id = @id;
