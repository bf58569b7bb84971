-- What lists show beside their rows, each for all rows of a page at once.

-- name: CountAgents :one
select count(*)
from agents
where tenant_id = @tenant_id
  and (@pattern::text = '' or name ilike @pattern or slug ilike @pattern or description ilike @pattern)
  and (@approval::text = '' or approval = @approval)
  and (sqlc.narg(enabled)::boolean is null or enabled = sqlc.narg(enabled))
  and (@ids::uuid[] is null or id = any(@ids));

-- name: TroubledAgents :many
-- The enabled agents without a token, or with a granted connector that does not work for them, as in AgentFigures. Without
-- an owner, a credential is the shared one.
select agents.id
from agents
left join (
    select distinct grants.agent_id
    from agent_grants grants
    join connectors on connectors.tenant_id = grants.tenant_id and connectors.id = grants.connector_id
    left join unnest(case when grants.accounts = '{}' then array[null] else array_remove(grants.accounts, '-') end) bound (name) on true
    left join credentials
        on credentials.tenant_id = grants.tenant_id and credentials.connector_id = grants.connector_id
           and coalesce(credentials.agent_id, '00000000-0000-0000-0000-000000000000'::uuid) = case when connectors.credential_mode = 'per_agent' then grants.agent_id else '00000000-0000-0000-0000-000000000000'::uuid end
           and credentials.status not in ('expired', 'revoked') and (bound.name is null or credentials.name = bound.name)
    where grants.tenant_id = @tenant_id and connectors.status <> 'disabled'
      and (connectors.status in ('error', 'needs_auth') or connectors.auth_type <> 'none' and credentials.id is null)
) troubled on troubled.agent_id = agents.id
where agents.tenant_id = @tenant_id and agents.enabled
  and (troubled.agent_id is not null
       or not exists (select from agent_tokens
                      where agent_tokens.tenant_id = agents.tenant_id and agent_tokens.agent_id = agents.id
                        and (agent_tokens.expires_at is null or agent_tokens.expires_at > now()))
          and not exists (select from agent_clients
                          where agent_clients.tenant_id = agents.tenant_id and agent_clients.agent_id = agents.id and agent_clients.expires_at > now())
          and not exists (select from agent_workloads
                          where agent_workloads.tenant_id = agents.tenant_id and agent_workloads.agent_id = agents.id));

-- name: AgentFigures :many
-- calls and failed are of the newest max_calls calls since from_id. troubled: granted connectors that do not work for the
-- agent. trouble: the first of them; lacks_account: the agent has no account of its own for it.
select agents.id,
       granted.connectors, granted.tools, granted.troubled, granted.trouble, granted.lacks_account,
       entry.tokens, entry.seen_at,
       recent.calls, recent.failed
from agents
cross join lateral (
    select count(*) filter (where grants.until is null or grants.until > now() or named.tools > 0) as connectors,
           coalesce(sum(case when grants.all_tools and (grants.until is null or grants.until > now()) then connectors.tool_count else named.tools end), 0)::bigint as tools,
           count(*) filter (where state.bad) as troubled,
           coalesce((array_agg(connectors.name order by lower(connectors.name)) filter (where state.bad))[1], '')::text as trouble,
           coalesce((array_agg(state.bare order by lower(connectors.name)) filter (where state.bad))[1], false)::boolean as lacks_account
    from agent_grants grants
    join connectors on connectors.tenant_id = grants.tenant_id and connectors.id = grants.connector_id
    left join lateral (
        select count(*) as tools
        from (
            select unnest(grants.tools) as tool where grants.until is null or grants.until > now()
            union
            select own.key from jsonb_each_text(grants.tool_ends) own where own.value is null or own.value::timestamptz > now()
        ) named
    ) named on true
    cross join lateral (
        select connectors.auth_type <> 'none' and greatest(cardinality(array_remove(grants.accounts, '-')), 1) > (
                   select count(*) from credentials
                   where credentials.tenant_id = grants.tenant_id and credentials.connector_id = grants.connector_id
                     and credentials.agent_id is not distinct from case when connectors.credential_mode = 'per_agent' then grants.agent_id end
                     and credentials.status not in ('expired', 'revoked') and (grants.accounts = '{}' or credentials.name = any(grants.accounts))) as bare
    ) account
    cross join lateral (
        select account.bare and connectors.credential_mode = 'per_agent' as bare,
               connectors.status <> 'disabled' and (account.bare or connectors.status in ('error', 'needs_auth')) as bad
    ) state
    where grants.tenant_id = agents.tenant_id and grants.agent_id = agents.id
) granted
cross join lateral (
    select count(*) filter (where agent_tokens.expires_at is null or agent_tokens.expires_at > now())
           + (select count(*)
              from agent_clients
              where agent_clients.tenant_id = agents.tenant_id and agent_clients.agent_id = agents.id and agent_clients.expires_at > now())
           + (select count(*)
              from agent_workloads
              where agent_workloads.tenant_id = agents.tenant_id and agent_workloads.agent_id = agents.id) as tokens,
           coalesce(max(agent_tokens.last_used_at), 'epoch')::timestamptz as seen_at
    from agent_tokens
    where agent_tokens.tenant_id = agents.tenant_id and agent_tokens.agent_id = agents.id
) entry
cross join lateral (
    select count(*) as calls, count(*) filter (where newest.status = 'error') as failed
    from (
        select tool_calls.status
        from tool_calls
        where tool_calls.tenant_id = agents.tenant_id and tool_calls.agent_id = agents.id and tool_calls.id >= @from_id::uuid
        order by tool_calls.id desc
        limit @max_calls
    ) newest
) recent
where agents.tenant_id = @tenant_id and agents.id = any(@ids::uuid[]);

-- name: CountConnectors :one
select count(*)
from connectors
left join (
    select credentials.connector_id, credentials.agent_id is null as shared, count(*) as stored,
           count(*) filter (where credentials.status in ('expired', 'revoked')) as ended
    from credentials
    where credentials.tenant_id = @tenant_id
    group by credentials.connector_id, credentials.agent_id is null
) held on held.connector_id = connectors.id and held.shared = (connectors.credential_mode = 'shared')
where connectors.tenant_id = @tenant_id
  and (@status::text = ''
       or connector_status(connectors.status, connector_needs_credential(connectors.auth_type, coalesce(held.stored, 0), coalesce(held.ended, 0))) = @status)
  and (@pattern::text = '' or connectors.name ilike @pattern or connectors.slug ilike @pattern or connectors.url ilike @pattern)
  and (@transport::text = '' or connectors.transport = @transport)
  and (@auth_type::text = '' or connectors.auth_type = @auth_type)
  and (@tag::text = '' or @tag::text = any(connectors.tags));

-- name: ConnectorTags :many
select distinct tag.name::text as name
from connectors
cross join lateral unnest(connectors.tags) as tag(name)
where connectors.tenant_id = @tenant_id
order by 1;

-- name: TagConnectors :many
-- Adds and removes tags, in alphabetical order. Returns the connectors that changed.
update connectors
set tags = next.tags,
    updated_at = now()
from (
    select connectors.id,
           array(select distinct tag.name
                 from unnest(connectors.tags || @added::text[]) as tag(name)
                 where not tag.name = any(@removed::text[])
                 order by tag.name)::text[] as tags
    from connectors
    where connectors.tenant_id = @tenant_id and connectors.id = any(@ids::uuid[])
    for update
) next
where connectors.tenant_id = @tenant_id and connectors.id = next.id and connectors.tags <> next.tags
returning connectors.id, connectors.slug, connectors.tags;

-- name: ConnectorFigures :many
-- As AgentFigures. waiting: tools with a change, or new ones, to review.
select connectors.id, used.agents, review.waiting, recent.calls, recent.failed
from connectors
cross join lateral (
    select count(*) as agents
    from agent_grants grants
    where grants.tenant_id = connectors.tenant_id and grants.connector_id = connectors.id
) used
cross join lateral (
    select count(*) as waiting
    from tools
    where tools.tenant_id = connectors.tenant_id and tools.connector_id = connectors.id
      and tools.review in ('changed', 'new') and tools.removed_at is null
) review
cross join lateral (
    select count(*) as calls, count(*) filter (where newest.status = 'error') as failed
    from (
        select tool_calls.status
        from tool_calls
        where tool_calls.tenant_id = connectors.tenant_id and tool_calls.connector_id = connectors.id and tool_calls.id >= @from_id::uuid
        order by tool_calls.id desc
        limit @max_calls
    ) newest
) recent
where connectors.tenant_id = @tenant_id and connectors.id = any(@ids::uuid[]);

-- name: AccessRows :many
-- The connectors of a tenant, with the grant of one agent each. access: 'granted', 'all', 'some', 'none', or empty. count is
-- of all rows that match.
select connectors.id, connectors.slug, connectors.name, connectors.tool_count, connectors.icon_hash, connectors.url,
       connectors.enabled, connector_status(connectors.status, connector_needs_credential(connectors.auth_type, coalesce(held.stored, 0), coalesce(held.ended, 0)))::text as status,
       (grants.agent_id is not null)::boolean as granted,
       coalesce(grants.all_tools and (grants.until is null or grants.until > now()), false)::boolean as all_tools,
       named.tools::integer as tools, grants.approval, grants.until, coalesce(grants.accounts, '{}')::text[] as accounts,
       coalesce(grants.until <= now() and named.tools = 0, false)::boolean as grant_ended,
       coalesce(grants.prompts, '')::text as prompts, coalesce(grants.resources, '')::text as resources,
       count(*) over () as count
from connectors
left join agent_grants grants
    on grants.tenant_id = connectors.tenant_id and grants.connector_id = connectors.id and grants.agent_id = @agent_id::uuid
left join lateral (
    -- the tools that are named and have not ended
    select count(*) as tools
    from (
        select unnest(grants.tools) as tool where grants.until is null or grants.until > now()
        union
        select own.key from jsonb_each_text(grants.tool_ends) own where own.value is null or own.value::timestamptz > now()
    ) named
) named on true
left join (
    select credentials.connector_id, credentials.agent_id is null as shared, count(*) as stored,
           count(*) filter (where credentials.status in ('expired', 'revoked')) as ended
    from credentials
    where credentials.tenant_id = @tenant_id
    group by credentials.connector_id, credentials.agent_id is null
) held on held.connector_id = connectors.id and held.shared = (connectors.credential_mode = 'shared')
where connectors.tenant_id = @tenant_id
  and (@pattern::text = '' or connectors.name ilike @pattern or connectors.slug ilike @pattern or connectors.url ilike @pattern)
  and (@tag::text = '' or @tag::text = any(connectors.tags))
  and (@access::text = ''
       or @access::text = 'granted' and grants.agent_id is not null
       or @access::text = 'none' and grants.agent_id is null
       or @access::text = 'all' and grants.all_tools and (grants.until is null or grants.until > now())
       or @access::text = 'some' and grants.agent_id is not null and not (grants.all_tools and (grants.until is null or grants.until > now())))
order by lower(connectors.name), connectors.id
limit @max_rows offset @skip_rows;

-- name: AccessAgents :many
-- The agents of a tenant, with the grant of one connector each; without one: a column of the matrix. As AccessRows.
select agents.id, agents.slug, agents.name, agents.enabled, agents.approval as own_approval,
       (grants.agent_id is not null)::boolean as granted,
       coalesce(grants.all_tools and (grants.until is null or grants.until > now()), false)::boolean as all_tools,
       named.tools::integer as tools, grants.approval, grants.until,
       coalesce(grants.until <= now() and named.tools = 0, false)::boolean as grant_ended,
       count(*) over () as count
from agents
left join agent_grants grants
    on grants.tenant_id = agents.tenant_id and grants.agent_id = agents.id and grants.connector_id = sqlc.narg(connector_id)::uuid
left join lateral (
    -- the tools that are named and have not ended
    select count(*) as tools
    from (
        select unnest(grants.tools) as tool where grants.until is null or grants.until > now()
        union
        select own.key from jsonb_each_text(grants.tool_ends) own where own.value is null or own.value::timestamptz > now()
    ) named
) named on true
where agents.tenant_id = @tenant_id
  and (@pattern::text = '' or agents.name ilike @pattern or agents.slug ilike @pattern)
  and (@access::text = ''
       or @access::text = 'granted' and grants.agent_id is not null
       or @access::text = 'none' and grants.agent_id is null)
order by lower(agents.name), agents.id
limit @max_rows offset @skip_rows;

-- name: GrantsAmong :many
select grants.agent_id, grants.connector_id, (grants.all_tools and (grants.until is null or grants.until > now()))::boolean as all_tools,
       named.tools::integer as tools, grants.until, coalesce(grants.until <= now() and named.tools = 0, false)::boolean as grant_ended
from agent_grants grants
left join lateral (
    -- the tools that are named and have not ended
    select count(*) as tools
    from (
        select unnest(grants.tools) as tool where grants.until is null or grants.until > now()
        union
        select own.key from jsonb_each_text(grants.tool_ends) own where own.value is null or own.value::timestamptz > now()
    ) named
) named on true
where grants.tenant_id = @tenant_id and grants.agent_id = any(@agent_ids::uuid[]) and grants.connector_id = any(@connector_ids::uuid[]);

-- name: CallParts :many
-- The newest max_calls calls of the range, counted by status and by the part in which they began. calls are those that match
-- status and tool, as in ToolCalls; the others are read and not counted, so that a rare status costs no more.
select greatest(0, floor(extract(epoch from newest.started_at - @since::timestamptz) / @part_s::double precision))::integer as part,
       newest.status, count(*) as scanned,
       count(*) filter (where (@status::text = '' or newest.status = @status)
                          and (@tool::text = '' or newest.tool = @tool or newest.exposed_name = @tool)) as calls
from (
    select tool_calls.started_at, tool_calls.status, tool_calls.tool, tool_calls.exposed_name
    from tool_calls
    where tool_calls.tenant_id = @tenant_id
      and (sqlc.narg(agent_id)::uuid is null or tool_calls.agent_id = sqlc.narg(agent_id))
      and (sqlc.narg(connector_id)::uuid is null or tool_calls.connector_id = sqlc.narg(connector_id))
      and tool_calls.id >= @from_id::uuid and tool_calls.id < @to_id::uuid
    order by tool_calls.id desc
    limit @max_calls
) newest
group by 1, 2;

-- name: CountMembers :one
select count(*) from memberships where tenant_id = @tenant_id;

-- name: CountAPIKeys :one
select count(*) from api_keys where tenant_id = @tenant_id;

-- name: CountSyncRuns :one
-- At most max_rows, as the next ones.
select count(*)
from (
    select from sync_runs where tenant_id = @tenant_id and connector_id = @connector_id limit @max_rows
) counted;

-- name: CountChanges :one
select count(*)
from (
    select from tool_changes
    where tenant_id = @tenant_id
      and (@state::text = '' or state = @state)
      and (sqlc.narg(connector_id)::uuid is null or connector_id = sqlc.narg(connector_id))
    limit @max_rows
) counted;

-- name: CountTaskCalls :one
select count(*)
from (
    select from tool_calls
    where tenant_id = @tenant_id
      and task_handle is not null
      and (sqlc.narg(agent_id)::uuid is null or agent_id = sqlc.narg(agent_id))
      and (sqlc.narg(connector_id)::uuid is null or connector_id = sqlc.narg(connector_id))
      and (@status::text = '' or status = @status)
      and (@tool::text = '' or tool = @tool or exposed_name = @tool)
    limit @max_rows
) counted;

-- name: CountAuditEvents :one
-- Of the newest max_rows events of the time range, those that match. The ids bound the index range.
select count(*) as looked_at, count(*) filter (
    where (sqlc.narg(since)::timestamptz is null or at >= sqlc.narg(since))
      and (sqlc.narg(until)::timestamptz is null or at < sqlc.narg(until))
      and (@actor::text = '' or actor_name ilike @actor)
      and (@target::text = '' or newest.target ilike @target)
      and (@action::text = '' or action = @action or starts_with(action, @action || '.'))) as matching
from (
    select at, actor_name, audit_events.target, action
    from audit_events
    where tenant_id = @tenant_id
      and (sqlc.narg(entry)::uuid is null or id = sqlc.narg(entry))
      and (sqlc.narg(from_id)::uuid is null or id >= sqlc.narg(from_id))
      and (sqlc.narg(to_id)::uuid is null or id < sqlc.narg(to_id))
    order by id desc
    limit @max_rows
) newest;

-- name: CountNotices :one
select count(*)
from (
    select from notices where tenant_id = @tenant_id limit @max_rows
) counted;

-- name: CountDeliveries :one
select count(*)
from (
    select from webhook_deliveries where tenant_id = @tenant_id and webhook_id = @webhook_id limit @max_rows
) counted;

-- name: CountToolChanges :one
select count(*)
from (
    select from tool_changes where tenant_id = @tenant_id and connector_id = @connector_id and tool = @tool limit @max_rows
) counted;

-- name: CountConnectorAccounts :one
-- The rows of all pages of ConnectorAccounts.
select count(*)
from (
    select
    from agents
    join connectors on connectors.tenant_id = agents.tenant_id and connectors.id = @connector_id
    left join credentials
        on credentials.tenant_id = agents.tenant_id and credentials.connector_id = connectors.id and credentials.agent_id = agents.id
    cross join lateral (
        select coalesce(
                   case when credentials.type <> connectors.auth_type then 'revoked'
                        when credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed') and credentials.expires_at <= now()
                             and (credentials.grant_meta ->> 'refreshable')::boolean is not true then 'expired'
                        else credentials.status end, '') as status,
               credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')
                   and case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                            then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                            else credentials.expires_at end < now() + make_interval(secs => @seconds::double precision) as ends_soon
    ) account
    where agents.tenant_id = @tenant_id and connectors.credential_mode = 'per_agent' and connectors.auth_type <> 'none'
      and (@pattern::text = '' or agents.name ilike @pattern or agents.slug ilike @pattern)
      and (sqlc.narg(person)::uuid is null
           or exists (select from personal_agents
                      where personal_agents.tenant_id = agents.tenant_id and personal_agents.agent_id = agents.id and personal_agents.user_id = sqlc.narg(person)))
      and case @state::text
              when 'stored' then account.status <> ''
              when 'missing' then account.status = ''
                  and exists (select from agent_grants
                              where agent_grants.tenant_id = agents.tenant_id and agent_grants.agent_id = agents.id and agent_grants.connector_id = connectors.id)
              when 'connected' then account.status = 'active'
              when 'attention' then account.status not in ('', 'active') or account.ends_soon is true
              else true end
    limit @max_rows
) counted;
