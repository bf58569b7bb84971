-- The agent's tools and permissions. The queries are sent as one batch. Definitions are named by hash because most of
-- them are cached in memory.

-- name: AccessReaches :many
-- now is the database's time, after the read began. account_ids are the accounts that the grant binds, in its order; zero: it is not stored.
select sqlc.embed(agent_grants), sqlc.embed(connectors),
       array(select coalesce((select account.id from credentials account -- two statements, each with an index
                              where account.tenant_id = agent_grants.tenant_id and account.connector_id = agent_grants.connector_id and account.name = bound.name
                                and account.agent_id = agent_grants.agent_id and connectors.credential_mode = 'per_agent'),
                             (select account.id from credentials account
                              where account.tenant_id = agent_grants.tenant_id and account.connector_id = agent_grants.connector_id and account.name = bound.name
                                and account.agent_id is null and connectors.credential_mode <> 'per_agent'),
                             '00000000-0000-0000-0000-000000000000')
             from unnest(array_remove(agent_grants.accounts, '-')) with ordinality as bound (name, position)
             order by bound.position)::uuid[] as account_ids,
       coalesce((select connector_envs.names
                 from connector_envs
                 where connector_envs.tenant_id = connectors.tenant_id and connector_envs.connector_id = connectors.id), '{}')::text[] as env_names,
       clock_timestamp()::timestamptz as now
from agent_grants
join connectors on connectors.tenant_id = agent_grants.tenant_id and connectors.id = agent_grants.connector_id
where agent_grants.tenant_id = @tenant_id and agent_grants.agent_id = @agent_id
order by connectors.slug;

-- name: AccessTools :many
-- Removed tools are included: a call of one is refused with that reason.
select tools.connector_id, tools.name, tools.accepted_hash, tools.review, tools.enabled, tools.alias, tools.agent_text, tools.tags, tools.calls_per_minute, tools.calls_per_day,
       (tools.removed_at is not null)::boolean as removed
from agent_grants
join tools on tools.tenant_id = agent_grants.tenant_id and tools.connector_id = agent_grants.connector_id
where agent_grants.tenant_id = @tenant_id and agent_grants.agent_id = @agent_id
order by tools.connector_id, tools.name;

-- name: AcceptedDefinitions :many
-- raw is null in all rows if the definitions together have more than max_bytes.
select found.hash, found.bytes, (case when found.bytes <= @max_bytes::bigint then found.raw end)::bytea as raw
from (select definition.hash, definition.raw, sum(length(definition.raw)) over ()::bigint as bytes
      from tool_definitions definition
      where definition.tenant_id = @tenant_id and definition.hash = any(@hashes::bytea[])) found;

-- name: AccessItems :many
select item.connector_id, item.kind, item.key, item.raw
from agent_grants
join connector_items item on item.tenant_id = agent_grants.tenant_id and item.connector_id = agent_grants.connector_id
where agent_grants.tenant_id = @tenant_id and agent_grants.agent_id = @agent_id
order by item.connector_id, item.kind, item.position;

-- name: AccessAllowances :many
select *
from tool_allowances
where tenant_id = @tenant_id and agent_id = @agent_id and until > now() and (definition_hash is not null or kind <> 'tool')
order by connector_id, kind, tool;

-- name: CredentialsByOwner :many
-- The accounts of an owner; name null: all of them. Status is computed as in Credentials.
select id, connector_id, agent_id, name, type, origin,
       (case when type = 'oauth2' and status in ('active', 'refresh_failed') and expires_at <= now()
             and (grant_meta ->> 'refreshable')::boolean is not true then 'expired' else status end)::text as status, account, coalesce(grant_meta -> 'identity', '{}')::jsonb as identity, scopes, expires_at, refreshed_at, last_used_at, error, version,
       created_at, updated_at
from credentials
where tenant_id = @tenant_id and connector_id = @connector_id and agent_id is not distinct from @agent_id
  and (sqlc.narg(name)::text is null or name = sqlc.narg(name))
order by name
limit @max_rows;
