-- The tools that agents call.

-- name: ToolsCalled :many
-- Calls and attempts since from_id. Ids grow with time, so the agent's index is read from there. Deleted connectors are
-- excluded.
with called as materialized ( -- unordered: sorting the calls would cost more than counting them
    select tool_calls.connector_id, tool_calls.tool, count(*) as calls, max(tool_calls.started_at)::timestamptz as last_at
    from tool_calls
    where tool_calls.tenant_id = @tenant_id and tool_calls.agent_id = @agent_id::uuid and tool_calls.id >= @from_id::uuid
      and tool_calls.kind = 'tool' and tool_calls.connector_id is not null
    group by tool_calls.connector_id, tool_calls.tool
)
select called.connector_id, called.tool, called.calls, called.last_at
from called
order by called.connector_id, called.tool;

-- name: ToolsNewFor :many
-- Tools of the agent's connectors that were first listed after @since.
select tools.connector_id, tools.name
from agent_grants
join tools on tools.tenant_id = agent_grants.tenant_id and tools.connector_id = agent_grants.connector_id
where agent_grants.tenant_id = @tenant_id and agent_grants.agent_id = @agent_id and tools.first_seen_at > @since
order by tools.connector_id, tools.name;
