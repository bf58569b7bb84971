-- Accounts from token exchange, and the keys that sign for it.

-- name: SetTokenExchange :execrows
update tenants
set token_exchange = @enabled, updated_at = now()
where tenants.id = @tenant_id;

-- name: HasInstanceWithoutTokenExchange :one
-- A live process of an older release takes a member's account for a managed one, and rotates no signing keys.
select exists (select from instances where not token_exchange and beat_at >= now() - interval '6 seconds')::boolean;

-- name: SigningKeys :many
select id, sealed, created_at
from signing_keys
where tenant_id = @tenant_id
order by created_at desc, id desc;

-- name: NewestSigningKey :one
-- When the newest key was made, and the newest that others can know; 1970: none. Unreadable keys do not count. needed: a connector uses keys.
select coalesce(max(created_at), 'epoch')::timestamptz as newest,
       coalesce(max(created_at) filter (where created_at <= @known_before::timestamptz), 'epoch')::timestamptz as known,
       exists (select 1
               from connectors
               join tenants on tenants.id = connectors.tenant_id
               where connectors.tenant_id = @tenant_id and tenants.token_exchange and coalesce(connectors.oauth ->> 'token_exchange', '') <> '') as needed
from signing_keys
where tenant_id = @tenant_id and not (id = any(@unreadable::uuid[]));

-- name: AddSigningKey :exec
insert into signing_keys (tenant_id, id, sealed)
values (@tenant_id, @id, @sealed);

-- name: DeleteOldSigningKeys :many
delete from signing_keys
where tenant_id = @tenant_id and created_at < @made_before
returning id;

-- name: DeleteUnusedSigningKeys :many
delete from signing_keys
where signing_keys.tenant_id = @tenant_id
  and not exists (select 1
                  from connectors
                  join tenants on tenants.id = connectors.tenant_id
                  where connectors.tenant_id = @tenant_id and tenants.token_exchange and coalesce(connectors.oauth ->> 'token_exchange', '') <> '')
returning signing_keys.id;

-- name: ExchangeSubject :one
-- The member that an agent belongs to, the subject of its token; null: the agent is the subject. No row if an owner has not turned token
-- exchange on, others' programs may act as the member's agent, or a person has disconnected the account. The address is proven if the
-- provider has confirmed it at the member's last sign-in, and nothing else lets the member or the agent's programs in.
select coalesce(p.user_id, '00000000-0000-0000-0000-000000000000')::uuid as user_id, coalesce(users.address, '')::text as address,
       (exists (select 1
                from sso_identities i
                join sso_settings s on s.tenant_id = i.tenant_id and s.issuer = i.issuer
                join memberships m on m.tenant_id = i.tenant_id and m.user_id = i.user_id
                join sso_domains d on d.tenant_id = i.tenant_id and d.domain = split_part(i.email, '@', 2)
                where i.tenant_id = agents.tenant_id and i.user_id = p.user_id and i.email = users.address and d.verified_at is not null
                  and s.enabled and (m.sso_only or s.enforced and s.break_glass <> i.user_id))
        and not exists (select 1
                        from agent_clients
                        where agent_clients.tenant_id = agents.tenant_id and agent_clients.agent_id = agents.id and not agent_clients.by_sso
                          and agent_clients.expires_at > now()))::boolean as proven
from agents
join tenants on tenants.id = agents.tenant_id
left join personal_agents p on p.tenant_id = agents.tenant_id and p.agent_id = agents.id
left join users on users.id = p.user_id
where agents.tenant_id = @tenant_id and agents.id = @agent_id and tenants.token_exchange
  and not (@connector_id::uuid = any(agents.disconnected))
  and (p.user_id is null
       or not (@connector_id::uuid = any(p.disconnected))
           and not exists (select 1
                           from agent_tokens
                           where agent_tokens.tenant_id = p.tenant_id and agent_tokens.agent_id = p.agent_id and agent_tokens.agent_client_id is null)
           and not exists (select 1
                           from agent_workloads
                           where agent_workloads.tenant_id = p.tenant_id and agent_workloads.agent_id = p.agent_id)
           and not exists (select 1
                           from agent_clients
                           where agent_clients.tenant_id = p.tenant_id and agent_clients.agent_id = p.agent_id and agent_clients.user_id <> p.user_id));

-- name: AddExchangedAccount :execrows
-- An account without a token: its first use requests one. It is the owner's only one, named default: accounts that exist stay. The connector
-- is locked, so that a change of its settings either sees the account, or is seen here.
insert into credentials (tenant_id, id, connector_id, agent_id, type, origin, sealed, account, grant_meta, connected_at, expires_at, member_id)
select agents.tenant_id, @id::uuid, connectors.id, agents.id, 'oauth2', @origin::text, @sealed::bytea, coalesce(users.address, ''), @grant_meta::jsonb,
       now(), now(), p.user_id
from agents
join tenants on tenants.id = agents.tenant_id
join connectors on connectors.tenant_id = agents.tenant_id and connectors.id = @connector_id::uuid
left join personal_agents p on p.tenant_id = agents.tenant_id and p.agent_id = agents.id
left join users on users.id = p.user_id
where agents.tenant_id = @tenant_id and agents.id = @agent_id and tenants.token_exchange
  and connectors.oauth ->> 'token_exchange' <> '' and connectors.version = @connector_version
  and p.user_id is not distinct from sqlc.narg(member_id)::uuid
  and not (connectors.id = any(agents.disconnected)) and (p.user_id is null or not (connectors.id = any(p.disconnected)))
  and not exists (select 1
                  from credentials other
                  where other.tenant_id = agents.tenant_id and other.connector_id = connectors.id and other.agent_id = agents.id)
for share of connectors, tenants
on conflict on constraint credentials_owner_key do nothing;

-- name: ReviveExchangedAccount :execrows
-- An account that ended for a reason that is over, or a while ago, requests a token again. So does one that an older release took for a
-- managed one. The id is another one unless the tokens were from token exchange for the same member: calls that wait are for that account.
update credentials
set id = case when credentials.grant_meta -> 'exchange' is not null and credentials.member_id is not distinct from sqlc.narg(member_id)::uuid
              then credentials.id else @new_id::uuid end,
    status = 'active',
    syncs = credentials.syncs and sqlc.narg(member_id)::uuid is null,
    member_id = sqlc.narg(member_id)::uuid,
    account = coalesce((select users.address from users where users.id = sqlc.narg(member_id)::uuid), ''),
    grant_meta = @grant_meta::jsonb,
    error = '',
    upstream = null,
    expires_at = now(),
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = credentials.version + 1,
    updated_at = now()
from connectors
where credentials.tenant_id = @tenant_id and credentials.id = @id and credentials.version = @version
  and connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id and connectors.version = @connector_version
  and (credentials.grant_meta -> 'exchange' is null and credentials.member_id is not null
       or credentials.grant_meta -> 'exchange' is not null and credentials.status = 'revoked'
           and (credentials.error = @shared or credentials.updated_at < now() - interval '15 minutes'));

-- name: RecordAgentDisconnected :exec
-- Of an agent without a member. Token exchange adds no account again.
update agents
set disconnected = array_append(disconnected, @connector_id::uuid)
where agents.tenant_id = @tenant_id and agents.id = @agent_id and not (@connector_id::uuid = any(disconnected))
  and exists (select 1
              from connectors
              where connectors.tenant_id = @tenant_id and connectors.id = @connector_id::uuid and coalesce(connectors.oauth ->> 'token_exchange', '') <> '')
  and not exists (select 1
                  from personal_agents p
                  where p.tenant_id = @tenant_id and p.agent_id = agents.id);

-- name: DeleteIssuedAccounts :execrows
-- Accounts at a connector that no person connected.
delete from credentials
where tenant_id = @tenant_id and connector_id = @connector_id::uuid and type = 'oauth2'
  and (member_id is not null or grant_meta -> 'exchange' is not null);

-- name: ExpireMembersExchangedTokens :many
-- The provider's word on members' addresses counts no longer: the next use requests a token that does not have it. A request that runs is not
-- kept.
update credentials
set expires_at = now(),
    lease_id = null,
    lease_until = null,
    retry_at = null,
    version = version + 1,
    updated_at = now()
where tenant_id = @tenant_id and member_id is not null and grant_meta -> 'exchange' is not null and status in ('active', 'refresh_failed')
returning connector_id;

-- name: DeleteExchangedAccounts :many
-- agent_id null: of all agents.
delete from credentials
where tenant_id = @tenant_id and grant_meta -> 'exchange' is not null
  and (sqlc.narg(agent_id)::uuid is null or agent_id = sqlc.narg(agent_id))
returning connector_id;
