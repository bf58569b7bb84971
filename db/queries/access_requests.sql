-- name: CreateAccessRequest :exec
-- Each insert deletes requests that ended 90 days ago, so that no sweeper is needed.
with swept as (
    delete from access_requests
    where access_requests.tenant_id = @tenant_id and access_requests.decided_at < now() - interval '90 days'
)
insert into access_requests (tenant_id, id, agent_id, connector_id, all_tools, tools, reason, until, asker, asked_by)
values (@tenant_id, @id, @agent_id, @connector_id, @all_tools, @tools, @reason, sqlc.narg(until), @asker, @asked_by);

-- name: CountOpenAccessRequests :one
select count(*) as open, count(*) filter (where asker = @asker) as own
from access_requests
where tenant_id = @tenant_id and state = 'open';

-- name: AccessRequest :one
select sqlc.embed(r), agents.slug as agent, agents.name as agent_name, connectors.slug as connector, connectors.name as connector_name
from access_requests r
join agents on agents.tenant_id = r.tenant_id and agents.id = r.agent_id
join connectors on connectors.tenant_id = r.tenant_id and connectors.id = r.connector_id
where r.tenant_id = @tenant_id and r.id = @id;

-- name: AccessRequests :many
-- Newest first. asker selects those of one person or key.
select sqlc.embed(r), agents.slug as agent, agents.name as agent_name, connectors.slug as connector, connectors.name as connector_name
from access_requests r
join agents on agents.tenant_id = r.tenant_id and agents.id = r.agent_id
join connectors on connectors.tenant_id = r.tenant_id and connectors.id = r.connector_id
where r.tenant_id = @tenant_id
  and (@state::text = '' or r.state = @state)
  and (sqlc.narg(asker)::uuid is null or r.asker = sqlc.narg(asker))
  and (sqlc.narg(before_id)::uuid is null or r.id < sqlc.narg(before_id))
order by r.id desc
limit @max_rows;

-- name: DecideAccessRequest :execrows
update access_requests
set state = @state, decided_by = @decided_by, decided_at = now(), note = @note
where tenant_id = @tenant_id and id = @id and state = 'open';

-- name: WithdrawAccessRequestsOf :exec
update access_requests
set state = 'withdrawn', decided_at = now()
where tenant_id = @tenant_id and asker = @asker and state = 'open';

-- name: RequestedTools :many
-- Tools that the server lists, with what the newest max_calls calls of the connector since @since tell of them. refused counts
-- the agent's calls that were not granted. raw is null for definitions above 64 KiB.
with recent as (
    select tool_calls.tool, tool_calls.status, tool_calls.error_code, tool_calls.agent_id
    from tool_calls
    where tool_calls.tenant_id = @tenant_id and tool_calls.connector_id = @connector_id::uuid and tool_calls.id > @since::uuid
      and tool_calls.kind = 'tool'
    order by tool_calls.id desc
    limit @max_calls
), used as (
    select recent.tool, count(*) as calls, count(*) filter (where recent.status = 'error') as failed,
           count(*) filter (where recent.error_code = 'not_granted' and recent.agent_id = @agent_id::uuid) as refused
    from recent
    group by recent.tool
)
select tools.name, tools.review, tools.enabled, coalesce(used.calls, 0)::bigint as calls, coalesce(used.failed, 0)::bigint as failed,
       coalesce(used.refused, 0)::bigint as refused,
       (case when length(definition.raw) <= 65536 then definition.raw end)::bytea as raw
from tools
join tool_definitions definition on definition.tenant_id = tools.tenant_id and definition.hash = tools.current_hash
left join used on used.tool = tools.name
where tools.tenant_id = @tenant_id and tools.connector_id = @connector_id::uuid and tools.removed_at is null
  and (@all_tools::boolean or tools.name = any(@tools::text[]))
order by tools.name
limit @max_rows;

-- name: OtherGrants :many
select agents.slug, agents.name, agent_grants.all_tools, cardinality(agent_grants.tools)::integer as tools
from agent_grants
join agents on agents.tenant_id = agent_grants.tenant_id and agents.id = agent_grants.agent_id
where agent_grants.tenant_id = @tenant_id and agent_grants.connector_id = @connector_id and agent_grants.agent_id <> @agent_id
  and (agent_grants.until is null or agent_grants.until > now())
order by lower(agents.name), agents.id
limit @max_rows;
