-- name: AgentGrants :many
select sqlc.embed(agent_grants), connectors.slug, connectors.name, connectors.enabled
from agent_grants
join connectors on connectors.tenant_id = agent_grants.tenant_id and connectors.id = agent_grants.connector_id
where agent_grants.tenant_id = @tenant_id and agent_grants.agent_id = @agent_id
  and (sqlc.narg(after_slug)::text is null or connectors.slug > sqlc.narg(after_slug))
order by connectors.slug
limit @max_rows;

-- name: AgentGrant :one
select sqlc.embed(agent_grants), connectors.slug, connectors.name, connectors.enabled
from agent_grants
join connectors on connectors.tenant_id = agent_grants.tenant_id and connectors.id = agent_grants.connector_id
where agent_grants.tenant_id = @tenant_id and agent_grants.agent_id = @agent_id and agent_grants.connector_id = @connector_id;

-- name: SetAgentGrant :exec
insert into agent_grants (tenant_id, agent_id, connector_id, all_tools, tools, approval, trusted_tools, pinned_tools, prompts, resources, until, tool_ends, accounts)
values (@tenant_id, @agent_id, @connector_id, @all_tools, @tools, @approval, @trusted_tools, @pinned_tools, @prompts, @resources,
        sqlc.narg(until), @tool_ends, @accounts)
on conflict on constraint agent_grants_pkey do update
set all_tools = excluded.all_tools,
    tools = excluded.tools,
    approval = excluded.approval,
    trusted_tools = excluded.trusted_tools,
    pinned_tools = excluded.pinned_tools,
    prompts = excluded.prompts,
    resources = excluded.resources,
    until = excluded.until,
    tool_ends = excluded.tool_ends,
    accounts = excluded.accounts,
    updated_at = now();

-- name: PinnedElsewhere :one
-- The number of tools that the agent's grants of other connectors pin.
select coalesce(sum(cardinality(pinned_tools)), 0)::bigint as pinned
from agent_grants
where tenant_id = @tenant_id and agent_id = @agent_id and connector_id <> @connector_id;

-- name: SetGrantShaping :execrows
-- rule null: the tool has none any more.
update agent_grants
set shaping = case
        when sqlc.narg(rule)::jsonb is null then shaping - @tool::text
        else shaping || jsonb_build_object(@tool::text, sqlc.narg(rule)::jsonb)
    end,
    updated_at = now()
where tenant_id = @tenant_id and agent_id = @agent_id and connector_id = @connector_id;

-- name: DeleteAgentGrant :execrows
delete from agent_grants
where tenant_id = @tenant_id and agent_id = @agent_id and connector_id = @connector_id;
