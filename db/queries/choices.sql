-- Options for forms of the dashboard.

-- name: ToolChoices :many
-- Tools that the server lists, and removed ones in @named. raw is null for definitions above 8 KiB.
select tools.name, tools.review, tools.enabled, (tools.removed_at is not null)::boolean as removed,
       definition.title, left(definition.description, 300)::text as description,
       (case when length(definition.raw) <= 8192 then definition.raw end)::bytea as raw
from tools
join tool_definitions definition on definition.tenant_id = tools.tenant_id and definition.hash = tools.current_hash
where tools.tenant_id = @tenant_id and tools.connector_id = @connector_id
  and (tools.removed_at is null or tools.name = any(@named::text[]))
order by tools.name
limit @max_rows;

-- name: CallCounts :many
-- Calls and denials among the last @depth calls of each agent.
select counted.agent_id::uuid as agent_id, counted.connector_id, counted.tool,
       count(*) as calls, count(*) filter (where counted.status = 'denied') as denied
from unnest(@agents::uuid[]) agent (id)
cross join lateral (
    select last.agent_id, last.connector_id, last.tool, last.status
    from tool_calls last
    where last.tenant_id = @tenant_id and last.agent_id = agent.id
    order by last.id desc
    limit @depth
) counted
where counted.status <> 'pending_approval' and counted.tool = any(@tools::text[])
group by counted.agent_id, counted.connector_id, counted.tool
order by counted.agent_id, counted.connector_id, counted.tool;

-- name: ApprovalDetails :many
-- Agent and connector exist: deleting one deletes its approvals. raw is null for definitions above 64 KiB. The account is
-- the one that the call is for.
select approvals.id, agents.slug as agent_slug, agents.name as agent_name, connectors.slug as connector_slug, connectors.name as connector_name,
       tools.accepted_hash, coalesce(definition.title, '')::text as title,
       (case when length(definition.raw) <= 65536 then definition.raw end)::bytea as raw,
       credentials.agent_id as account_agent, coalesce(credentials.name, '')::text as account_name, coalesce(credentials.account, '')::text as account,
       coalesce(credentials.grant_meta -> 'identity', '{}')::jsonb as identity
from approvals
join agents on agents.tenant_id = approvals.tenant_id and agents.id = approvals.agent_id
join connectors on connectors.tenant_id = approvals.tenant_id and connectors.id = approvals.connector_id
left join tools on tools.tenant_id = approvals.tenant_id and tools.connector_id = approvals.connector_id and tools.name = approvals.tool
left join tool_definitions definition on definition.tenant_id = approvals.tenant_id and definition.hash = approvals.definition_hash
left join credentials on credentials.tenant_id = approvals.tenant_id and credentials.id = coalesce(approvals.sealed_account_id, approvals.account_id)
where approvals.tenant_id = @tenant_id and approvals.id = any(@ids::uuid[])
order by approvals.id;

-- name: AgentsWithTool :many
select agents.slug, agents.name, agent_grants.accounts
from agent_grants
join agents on agents.tenant_id = agent_grants.tenant_id and agents.id = agent_grants.agent_id and agents.enabled
where agent_grants.tenant_id = @tenant_id and agent_grants.connector_id = @connector_id
  and (agent_grants.until is null or agent_grants.until > now() or agent_grants.tool_ends ? @tool::text)
  and case when starts_with(@tool::text, 'skill:') then agent_grants.resources <> 'none'
           else agent_grants.all_tools or @tool::text = '' or @tool::text = any(agent_grants.tools) or agent_grants.tool_ends ? @tool::text end -- '': the server's instructions
order by agents.name, agents.id
limit @max_rows;

-- name: DestructiveCandidates :many
-- Tools that the servers list, with the hint anywhere in their definitions. raw is null for definitions above 64 KiB.
select tools.connector_id, connectors.name as connector, tools.name,
       (case when length(definition.raw) <= 65536 then definition.raw end)::bytea as raw
from tools
join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
join tool_definitions definition on definition.tenant_id = tools.tenant_id and definition.hash = tools.current_hash
where tools.tenant_id = @tenant_id and tools.connector_id = any(@ids::uuid[]) and tools.removed_at is null
  and position('destructiveHint'::bytea in definition.raw) > 0
order by lower(connectors.name), tools.connector_id, tools.name
limit @max_rows;
