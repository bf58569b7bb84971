-- name: Credentials :many
-- An access token that has expired and cannot be refreshed has status expired, whatever the row says.
select credentials.id, credentials.connector_id, credentials.agent_id, credentials.name, credentials.syncs, credentials.type, credentials.origin,
       (case when credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed') and credentials.expires_at <= now()
             and (credentials.grant_meta ->> 'refreshable')::boolean is not true then 'expired' else credentials.status end)::text as status,
       credentials.account, coalesce(credentials.grant_meta -> 'identity', '{}')::jsonb as identity, credentials.scopes, credentials.expires_at, credentials.refreshed_at, credentials.last_used_at, credentials.error,
       credentials.upstream, credentials.version, credentials.created_at, credentials.updated_at, credentials.member_id,
       coalesce(agents.slug, '')::text as agent_slug, coalesce(agents.name, '')::text as agent_name
from credentials
left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
where credentials.tenant_id = @tenant_id and credentials.connector_id = @connector_id
  and (sqlc.narg(after_id)::uuid is null or credentials.id > sqlc.narg(after_id))
order by credentials.id
limit @max_rows;

-- name: AgentCredentials :many
-- The status of the agent's accounts at each connector in mode per_agent. Empty: no credential is stored.
select connectors.slug, connectors.name, connectors.auth_type, coalesce(credentials.name, '')::text as account_name, coalesce(
           case when credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed') and credentials.expires_at <= now()
                 and (credentials.grant_meta ->> 'refreshable')::boolean is not true then 'expired' else credentials.status end, '')::text as status
from connectors
left join credentials on credentials.tenant_id = connectors.tenant_id
    and credentials.connector_id = connectors.id and credentials.agent_id = @agent_id::uuid
where connectors.tenant_id = @tenant_id and connectors.credential_mode = 'per_agent' and connectors.auth_type <> 'none'
order by lower(connectors.name), connectors.id, credentials.name
limit @max_rows;

-- name: SetCredential :exec
-- The row keeps its id when its secret is replaced, unless it is of another type or user, or for another server.
insert into credentials (tenant_id, id, connector_id, agent_id, name, type, origin, sealed, account, connected_at)
values (@tenant_id, @id, @connector_id, @agent_id, @name, @type, @origin, @sealed, @account, now())
on conflict on constraint credentials_owner_key do update
set id = case when credentials.type = excluded.type and credentials.origin = excluded.origin and credentials.account = excluded.account then credentials.id
              else excluded.id end,
    type = excluded.type,
    member_id = null,
    connected_at = excluded.connected_at,
    origin = excluded.origin,
    sealed = excluded.sealed,
    account = excluded.account,
    status = 'active',
    scopes = '{}',
    expires_at = null,
    refreshed_at = null,
    last_used_at = null,
    error = '',
    upstream = null,
    grant_meta = '{}',
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = credentials.version + 1,
    updated_at = now();

-- name: DeleteCredential :execrows
delete from credentials
where tenant_id = @tenant_id and connector_id = @connector_id and agent_id is not distinct from @agent_id and name = @name;

-- name: ReleaseSyncAccount :exec
update credentials
set syncs = false
where tenant_id = @tenant_id and connector_id = @connector_id and syncs and (agent_id is null) = @shared::boolean;

-- name: ChooseSyncAccount :execrows
update credentials
set syncs = true
where tenant_id = @tenant_id and connector_id = @connector_id and agent_id is not distinct from @agent_id and name = @name;

-- name: HasInstanceWithoutAccountNames :one
-- A live process of an older release knows one account of each owner.
select exists (select from instances where not account_names and beat_at >= now() - interval '6 seconds')::boolean;

-- name: RenameCredential :execrows
-- Not while a refresh runs: its result is sealed for the old name.
update credentials
set name = @name,
    sealed = @sealed,
    version = version + 1
where tenant_id = @tenant_id and id = @id and version = @version and (lease_until is null or lease_until < now());

-- name: LockAccounts :exec
-- The trigger check_account_name takes the same lock, before that of a row.
select pg_advisory_xact_lock(hashtextextended('accounts ' || @tenant_id::uuid || ' ' || @connector_id::uuid, 0));

-- name: IsAccountBound :one
-- A grant of the owner binds an account with the name. agent_id null: a shared account.
select exists (select from agent_grants
               where tenant_id = @tenant_id and connector_id = @connector_id and (sqlc.narg(agent_id)::uuid is null or agent_id = sqlc.narg(agent_id))
                 and @name::text = any(accounts))::boolean;

-- name: AgentsBoundToAccount :many
-- The agents with grants that bind the account. agent_id null: a shared account.
select agents.slug
from agent_grants
join agents on agents.tenant_id = agent_grants.tenant_id and agents.id = agent_grants.agent_id
where agent_grants.tenant_id = @tenant_id and agent_grants.connector_id = @connector_id
  and (sqlc.narg(agent_id)::uuid is null or agent_grants.agent_id = sqlc.narg(agent_id)) and @name::text = any(agent_grants.accounts)
order by agents.slug
limit @max_rows;

-- name: RenameBoundAccount :exec
-- The grants that bind the account. agent_id null: a shared account.
update agent_grants
set accounts = array_replace(accounts, @former::text, @name::text),
    updated_at = now()
where tenant_id = @tenant_id and connector_id = @connector_id and (sqlc.narg(agent_id)::uuid is null or agent_id = sqlc.narg(agent_id))
  and @former::text = any(accounts);

-- name: AccountNames :many
-- The names of an owner's accounts.
select name
from credentials
where tenant_id = @tenant_id and connector_id = @connector_id and (agent_id = @agent_id or @agent_id is null and agent_id is null)
order by name
limit @max_rows;

-- name: DeleteCredentials :execrows
delete from credentials
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: RenewMachineTokens :exec
-- Expires tokens of machine credentials: the next use requests a new one, also after a refusal.
update credentials
set status = 'active',
    error = '',
    upstream = null,
    expires_at = case when expires_at is null then null else now() end,
    grant_meta = grant_meta - 'expiry_assumed' - 'wanted_scopes' - 'step_ups',
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = version + 1,
    updated_at = now()
where tenant_id = @tenant_id and connector_id = @connector_id and type in ('client_credentials', 'private_key_jwt');

-- name: SealedCredentials :many
-- The accounts of an owner; name null: all of them. A caller that needs one refuses several. "is not distinct from" uses no index.
select credentials.*
from credentials
where tenant_id = @tenant_id and connector_id = @connector_id and (agent_id = @agent_id or @agent_id is null and agent_id is null)
  and (sqlc.narg(name)::text is null or name = sqlc.narg(name))
order by name
limit @max_rows;

-- name: SealedCredential :one
select credentials.*
from credentials
where tenant_id = @tenant_id and id = @id;

-- name: SyncCredential :one
-- The account that was chosen for syncs.
select sqlc.embed(credentials), coalesce(agents.slug, '')::text as agent_slug
from credentials
left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
where credentials.tenant_id = @tenant_id and credentials.connector_id = @connector_id and (credentials.agent_id is null) = @shared::boolean
  and credentials.syncs;

-- name: AgentCredentialUsedLast :one
-- For syncs of a connector with agents' credentials, none of which was chosen: only lists are read with it. Only credentials that can still
-- be used, and none with tokens that name a member by token exchange: only that member's calls request them.
select sqlc.embed(credentials), agents.slug as agent_slug
from credentials
join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
where credentials.tenant_id = @tenant_id and credentials.connector_id = @connector_id and credentials.agent_id is not null
  and credentials.status in ('active', 'refresh_failed')
  and (credentials.member_id is null or credentials.grant_meta -> 'exchange' is null)
order by credentials.last_used_at desc nulls last, credentials.updated_at desc, credentials.id
limit 1;

-- name: ConnectorSecrets :many
-- All secrets of a connector, and those of the tenant's registered clients. place: the origin, program or redirect URI
-- that a secret is for.
select 'credential'::text as kind, credentials.sealed, credentials.agent_id, credentials.name as account_name, credentials.origin as place, ''::text as client_id, ''::text as issuer
from credentials
where credentials.tenant_id = @tenant_id and credentials.connector_id = @connector_id
union all
select 'environment', connector_envs.sealed, null, '', connector_envs.program, '', ''
from connector_envs
where connector_envs.tenant_id = @tenant_id and connector_envs.connector_id = @connector_id
union all
select 'client', connector_clients.sealed, null, '', connector_clients.origin, connector_clients.client_id, connector_clients.issuer
from connector_clients
where connector_clients.tenant_id = @tenant_id and connector_clients.connector_id = @connector_id
union all
select 'registration', client_registrations.sealed, null, '', client_registrations.redirect_uri, client_registrations.client_id, client_registrations.issuer
from client_registrations
where client_registrations.tenant_id = @tenant_id and client_registrations.sealed is not null;

-- name: MarkCredentialUsed :exec
-- At most one write a minute: uses are frequent, and the time is only displayed.
update credentials
set last_used_at = now()
where tenant_id = @tenant_id and id = @id
  and (last_used_at is null or last_used_at < now() - interval '1 minute');
