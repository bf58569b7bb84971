-- name: AgentsOfMembers :many
-- Only personal agents are returned, each with its owner.
select p.agent_id, users.id, users.address as email, users.name, memberships.role, memberships.created_at
from personal_agents p
join memberships on memberships.tenant_id = p.tenant_id and memberships.user_id = p.user_id
join users on users.id = p.user_id
where p.tenant_id = @tenant_id and p.agent_id = any(@agents::uuid[]);

-- name: AgentAccounts :many
-- The credentials of each agent at each granted connector in mode per_agent. The status is empty if none is stored. bound: the
-- accounts that the grant binds.
select agents.id as agent_id, agents.slug as agent_slug, agents.name as agent_name, agents.enabled as agent_enabled,
       connectors.id as connector_id, connectors.slug, connectors.name, coalesce(nullif(connectors.server_url, ''), connectors.url)::text as credential_url, connectors.auth_type, connectors.enabled,
       agent_grants.accounts as bound, coalesce(credentials.name, '')::text as account_name, coalesce(credentials.syncs, false)::boolean as syncs,
       coalesce(credentials.type, '')::text as type, coalesce(credentials.account, '')::text as account, coalesce(credentials.error, '')::text as error,
       coalesce(credentials.grant_meta -> 'identity', '{}')::jsonb as identity,
       credentials.upstream, coalesce(
           case when credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed') and credentials.expires_at <= now()
                 and (credentials.grant_meta ->> 'refreshable')::boolean is not true then 'expired' else credentials.status end, '')::text as status,
       credentials.connected_at, credentials.created_at as stored_at
from agent_grants
join agents on agents.tenant_id = agent_grants.tenant_id and agents.id = agent_grants.agent_id
join connectors on connectors.tenant_id = agent_grants.tenant_id and connectors.id = agent_grants.connector_id
left join credentials on credentials.tenant_id = agent_grants.tenant_id and credentials.connector_id = connectors.id and credentials.agent_id = agents.id
where agent_grants.tenant_id = @tenant_id and agent_grants.agent_id = any(@agents::uuid[]) and connectors.credential_mode = 'per_agent'
  and connectors.auth_type <> 'none'
order by lower(agents.name), agents.id, lower(connectors.name), connectors.id, credentials.name
limit @max_rows;

-- name: DisableAgentsOfMember :many
update agents
set enabled = false,
    updated_at = now()
from personal_agents p
where agents.tenant_id = @tenant_id and p.tenant_id = agents.tenant_id and p.agent_id = agents.id and p.user_id = @user_id
returning agents.id, agents.slug;

-- name: DeleteCredentialsOfAgents :many
delete from credentials
where tenant_id = @tenant_id and agent_id = any(@agents::uuid[])
returning connector_id;

-- name: DeleteAccountRequests :exec
delete from account_requests
where tenant_id = @tenant_id and agent_id = @agent_id and expires_at <= @now;

-- name: OpenAccountRequests :one
select count(*)
from account_requests
where tenant_id = @tenant_id and agent_id = @agent_id and id <> @id and used_at is null;

-- name: RenewAccountRequest :one
-- A session has at most one open request for a connector.
update account_requests
set expires_at = @expires_at
where tenant_id = @tenant_id and agent_id = @agent_id and connector_id = @connector_id and session = @session and session <> '' and connected_at is null
returning id;

-- name: InsertAccountRequest :exec
-- A request that is stored again, after the reply to commit was lost, is there already.
insert into account_requests (tenant_id, id, agent_id, connector_id, session, expires_at)
values (@tenant_id, @id, @agent_id, @connector_id, @session, @expires_at)
on conflict (tenant_id, id) do nothing;

-- name: AccountRequest :one
select id, connector_id, connected_at, used_at, expires_at
from account_requests
where tenant_id = @tenant_id and id = @id and agent_id = @agent_id;

-- name: UseAccountRequest :execrows
-- A request can be used once.
update account_requests
set used_at = @now
where tenant_id = @tenant_id and id = @id and agent_id = @agent_id and connected_at is not null and used_at is null;

-- name: ConnectedRequests :many
-- Requests that the session may report to its client.
select id
from account_requests
where tenant_id = @tenant_id and agent_id = @agent_id and session = @session and connected_at is not null
order by id;

-- name: ConnectAccountRequests :execrows
update account_requests
set connected_at = now()
where tenant_id = @tenant_id and agent_id = @agent_id::uuid and connector_id = @connector_id and connected_at is null;

-- name: ConnectorAccounts :many
-- The agents, each with its credentials at a connector in mode per_agent. If the credential is missing, the status is empty
-- and the type is the connector's. The status is revoked if it is of another auth type than the connector's. expiring_at: when an account ends within @seconds that
-- Patchbay cannot refresh beyond that. A person sees their personal agents alone.
with accounts as (
    select agents.tenant_id, agents.id, agents.slug, agents.name, connectors.auth_type, credentials.id as credential_id, coalesce(credentials.name, '')::text as account_name,
           exists (select from agent_grants
                   where agent_grants.tenant_id = agents.tenant_id and agent_grants.agent_id = agents.id and agent_grants.connector_id = connectors.id) as granted,
           coalesce(
               case when credentials.type <> connectors.auth_type then 'revoked'
                    when credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed') and credentials.expires_at <= now()
                         and (credentials.grant_meta ->> 'refreshable')::boolean is not true then 'expired'
                    else credentials.status end, '')::text as status,
           case when credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed') and lapses.at < now() + make_interval(secs => @seconds::double precision)
                then lapses.at end as expiring_at
    from agents
    join connectors on connectors.tenant_id = agents.tenant_id and connectors.id = @connector_id
    left join credentials
        on credentials.tenant_id = agents.tenant_id and credentials.connector_id = connectors.id and credentials.agent_id = agents.id
    cross join lateral (
        select case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                    then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                    else credentials.expires_at end as at
    ) lapses
    where agents.tenant_id = @tenant_id and connectors.credential_mode = 'per_agent' and connectors.auth_type <> 'none'
      and (@pattern::text = '' or agents.name ilike @pattern or agents.slug ilike @pattern)
      and (sqlc.narg(person)::uuid is null
           or exists (select from personal_agents
                      where personal_agents.tenant_id = agents.tenant_id and personal_agents.agent_id = agents.id and personal_agents.user_id = sqlc.narg(person)))
      and (sqlc.narg(after_name)::text is null or (lower(agents.name), agents.id, coalesce(credentials.name, '')) > (lower(sqlc.narg(after_name)), sqlc.narg(after_id)::uuid, @after_account::text))
)
select accounts.id as agent_id, accounts.slug, accounts.name, accounts.account_name, coalesce(credentials.syncs, false)::boolean as syncs, accounts.granted::boolean as granted, accounts.status, coalesce(accounts.expiring_at, 'epoch')::timestamptz as expiring_at,
       coalesce(credentials.type, accounts.auth_type)::text as type, coalesce(credentials.account, '')::text as account,
       coalesce(credentials.grant_meta -> 'identity', '{}')::jsonb as identity,
       coalesce(credentials.scopes, '{}')::text[] as scopes, credentials.expires_at, credentials.refreshed_at, credentials.last_used_at,
       coalesce(credentials.error, '')::text as error, credentials.upstream, credentials.updated_at
from accounts
left join credentials
    on credentials.tenant_id = accounts.tenant_id and credentials.id = accounts.credential_id
where case @state::text
          when 'stored' then accounts.status <> ''
          when 'missing' then accounts.status = '' and accounts.granted
          when 'connected' then accounts.status = 'active'
          when 'attention' then accounts.status not in ('', 'active') or accounts.expiring_at is not null
          else true end
order by lower(accounts.name), accounts.id, accounts.account_name
limit @max_rows;

-- name: CountMissingAccounts :one
-- The agents that were granted a connector in mode per_agent, and have no credential there, or not all that the grant binds.
select count(*)
from agent_grants
join connectors on connectors.tenant_id = agent_grants.tenant_id and connectors.id = agent_grants.connector_id
where agent_grants.tenant_id = @tenant_id and agent_grants.connector_id = @connector_id
  and connectors.credential_mode = 'per_agent' and connectors.auth_type <> 'none'
  and (select count(*) from credentials
       where credentials.tenant_id = agent_grants.tenant_id and credentials.connector_id = agent_grants.connector_id
         and credentials.agent_id = agent_grants.agent_id
         and (agent_grants.accounts = '{}' or credentials.name = any(agent_grants.accounts))) < greatest(cardinality(array_remove(agent_grants.accounts, '-')), 1);
