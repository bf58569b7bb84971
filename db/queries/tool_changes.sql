-- Changes of tool definitions and of server instructions, with their reviews. A change of instructions has an empty
-- tool.

-- name: SupersedeChanges :exec
-- Open changes of these tools no longer match the server's list.
update tool_changes
set state = 'superseded'
where tenant_id = @tenant_id and connector_id = @connector_id and tool = any(@tools::text[]) and state = 'waiting';

-- name: InsertChanges :exec
-- kinds: comma-separated for each change.
insert into tool_changes (tenant_id, id, connector_id, tool, sync_run_id, before_hash, after_hash, kinds, risk, state)
select @tenant_id, new.id, @connector_id, new.tool, @sync_run_id, new.before_hash, new.after_hash, string_to_array(new.kinds, ','), new.risk, new.state
from (select unnest(@ids::uuid[]) as id,
             unnest(@tools::text[]) as tool,
             unnest(@before_hashes::bytea[]) as before_hash,
             unnest(@after_hashes::bytea[]) as after_hash,
             unnest(@kinds::text[]) as kinds,
             unnest(@risks::text[]) as risk,
             unnest(@states::text[]) as state) new;

-- name: WaitingKinds :one
select kinds
from tool_changes
where tenant_id = @tenant_id and connector_id = @connector_id and tool = @tool and state = 'waiting';

-- name: ToolsSyncedAt :one
select tools_last_synced_at
from connectors
where tenant_id = @tenant_id and id = @id;

-- name: ConnectorName :one
select slug, name
from connectors
where tenant_id = @tenant_id and id = @id;

-- name: OtherTools :many
-- Tools of other connectors with one of the names. every: all tools up to max_rows, for the search of similar names.
select connectors.slug, tools.name
from tools
join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
where tools.tenant_id = @tenant_id and tools.connector_id <> @connector_id and tools.removed_at is null
  and (@every::boolean or tools.name = any(@names::text[]))
order by tools.name = any(@names::text[]) desc, tools.name, connectors.slug
limit @max_rows;

-- name: ChangeMarks :many
-- The minimum of Changes that shows whether the list changed: every open page polls each second.
select id, state, decided_at
from tool_changes
where tenant_id = @tenant_id
  and (@state::text = '' or state = @state)
  and (sqlc.narg(connector_id)::uuid is null or connector_id = sqlc.narg(connector_id))
order by id desc
limit @max_rows;

-- name: Changes :many
-- state empty: any state. Calls are counted among the newest 100,000 of a connector.
with page as (
    select listed.id, listed.connector_id
    from tool_changes listed
    where listed.tenant_id = @tenant_id
      and (@state::text = '' or listed.state = @state)
      and (sqlc.narg(connector_id)::uuid is null or listed.connector_id = sqlc.narg(connector_id))
      and (sqlc.narg(before_id)::uuid is null or listed.id < sqlc.narg(before_id))
    order by listed.id desc
    limit @max_rows
), called as (
    select recent.connector_id, coalesce(recent.tool, '') as tool, count(*) as calls -- tool '': the total of the connector
    from (select distinct page.connector_id from page) concerned
    cross join lateral (
        select tool_calls.connector_id, tool_calls.tool
        from tool_calls
        where tool_calls.tenant_id = @tenant_id and tool_calls.connector_id = concerned.connector_id
          and tool_calls.id > @calls_since::uuid and tool_calls.kind = 'tool'
        order by tool_calls.id desc
        limit 100000) recent
    group by grouping sets ((recent.connector_id, recent.tool), (recent.connector_id))
)
select tool_changes.id, tool_changes.connector_id, connectors.slug, connectors.name as connector_name, tool_changes.tool,
       tool_changes.sync_run_id, tool_changes.seen_at, tool_changes.before_hash, tool_changes.after_hash, tool_changes.kinds,
       tool_changes.risk, tool_changes.state, tool_changes.decided_by, tool_changes.decided_at,
       (select count(*)
        from agent_grants
        where agent_grants.tenant_id = @tenant_id and agent_grants.connector_id = tool_changes.connector_id
          and (agent_grants.until is null or agent_grants.until > now() or agent_grants.tool_ends ? tool_changes.tool)
          and case when starts_with(tool_changes.tool, 'skill:') then agent_grants.resources <> 'none'
                   else agent_grants.all_tools or tool_changes.tool = '' or tool_changes.tool = any(agent_grants.tools) or agent_grants.tool_ends ? tool_changes.tool end)::bigint as agents,
       coalesce(called.calls, 0)::bigint as calls
from page
join tool_changes on tool_changes.tenant_id = @tenant_id and tool_changes.id = page.id
join connectors on connectors.tenant_id = @tenant_id and connectors.id = page.connector_id
left join called on called.connector_id = page.connector_id and called.tool = tool_changes.tool
order by tool_changes.id desc;

-- name: ToolChanges :many
-- The history of one tool, or one change of it. tool empty: of the instructions.
with reach as (
    select (select count(*)
            from agent_grants
            where agent_grants.tenant_id = @tenant_id and agent_grants.connector_id = @connector_id
              and (agent_grants.until is null or agent_grants.until > now() or agent_grants.tool_ends ? @tool::text)
              and case when starts_with(@tool::text, 'skill:') then agent_grants.resources <> 'none'
                       else agent_grants.all_tools or @tool::text = '' or @tool::text = any(agent_grants.tools) or agent_grants.tool_ends ? @tool::text end) as agents,
           (select count(*)
            from (select tool_calls.tool
                  from tool_calls
                  where tool_calls.tenant_id = @tenant_id and tool_calls.connector_id = @connector_id
                    and tool_calls.id > @calls_since::uuid and tool_calls.kind = 'tool'
                  order by tool_calls.id desc
                  limit 100000) recent
            where @tool::text in ('', recent.tool)) as calls
)
select tool_changes.id, tool_changes.connector_id, connectors.slug, connectors.name as connector_name, tool_changes.tool,
       tool_changes.sync_run_id, tool_changes.seen_at, tool_changes.before_hash, tool_changes.after_hash, tool_changes.kinds,
       tool_changes.risk, tool_changes.state, tool_changes.decided_by, tool_changes.decided_at,
       reach.agents::bigint as agents, reach.calls::bigint as calls
from tool_changes
join connectors on connectors.tenant_id = tool_changes.tenant_id and connectors.id = tool_changes.connector_id
cross join reach
where tool_changes.tenant_id = @tenant_id and tool_changes.connector_id = @connector_id and tool_changes.tool = @tool
  and (sqlc.narg(before_id)::uuid is null or tool_changes.id < sqlc.narg(before_id))
  and (sqlc.narg(one_id)::uuid is null or tool_changes.id = sqlc.narg(one_id))
order by tool_changes.id desc
limit @max_rows;

-- name: DefinitionsWithin :many
-- Definitions in the order of hashes, up to max_bytes in total.
with measured as (
    select hash, raw, sum(length(raw)) over (order by hash) as bytes
    from tool_definitions
    where tenant_id = @tenant_id and hash = any(@hashes::bytea[])
)
select hash, raw
from measured
where bytes <= @max_bytes::bigint;

-- name: LockTool :one
-- The connector is locked first, as at the end of a sync.
with locked as (
    select connectors.id
    from connectors
    where connectors.tenant_id = @tenant_id and connectors.id = @connector_id
    for no key update of connectors
)
select tools.current_hash, tools.accepted_hash, tools.review, (tools.removed_at is not null)::boolean as removed
from tools
join locked on locked.id = tools.connector_id
where tools.tenant_id = @tenant_id and tools.connector_id = @connector_id and tools.name = @tool
for update of tools;

-- name: AcceptTool :exec
update tools
set accepted_hash = current_hash, review = 'accepted'
where tenant_id = @tenant_id and connector_id = @connector_id and name = @tool;

-- name: RejectTool :exec
update tools
set review = 'rejected'
where tenant_id = @tenant_id and connector_id = @connector_id and name = @tool;

-- name: SetAcceptedDefinition :exec
-- Serves the definition accepted_hash, which the server no longer has.
update tools
set accepted_hash = @accepted_hash, review = @review
where tenant_id = @tenant_id and connector_id = @connector_id and name = @tool;

-- name: KindsOfDefinition :one
-- The kinds of difference of the newest change that brought a definition.
select kinds
from tool_changes
where tenant_id = @tenant_id and connector_id = @connector_id and tool = @tool and after_hash = @hash
order by id desc
limit 1;

-- name: RiskyChanges :many
-- Changes of high risk that brought one of the definitions, also those that were decided: a rejected one can be accepted. Of
-- a definition the newest.
select distinct on (connectors.name, tool_changes.connector_id, tool_changes.tool, tool_changes.after_hash)
       tool_changes.connector_id, connectors.slug, connectors.name as connector_name, tool_changes.tool, tool_changes.after_hash, tool_changes.kinds
from tool_changes
join connectors on connectors.tenant_id = tool_changes.tenant_id and connectors.id = tool_changes.connector_id
where tool_changes.tenant_id = @tenant_id and tool_changes.risk = 'high' and tool_changes.after_hash = any(@hashes::bytea[])
order by connectors.name, tool_changes.connector_id, tool_changes.tool, tool_changes.after_hash, tool_changes.id desc;

-- name: ServedDefinitions :many
-- Definitions that agents were served before a change, with the time at which the server first had them; the epoch: in the
-- first sync.
select served.hash::bytea as hash,
       coalesce((select min(brought.seen_at)
                 from tool_changes brought
                 where brought.tenant_id = @tenant_id and brought.connector_id = @connector_id and brought.tool = @tool
                   and brought.after_hash = served.hash), 'epoch'::timestamptz)::timestamptz as seen_at
from (select distinct past.before_hash as hash
      from tool_changes past
      where past.tenant_id = @tenant_id and past.connector_id = @connector_id and past.tool = @tool
        and past.before_hash = any(@hashes::bytea[]) and past.after_hash is not null) served;

-- name: InsertDecidedChange :exec
-- A change that a person decided without a sync.
insert into tool_changes (tenant_id, id, connector_id, tool, before_hash, after_hash, kinds, risk, state, decided_by, decided_at)
values (@tenant_id, @id, @connector_id, @tool, @before_hash, @after_hash, @kinds::text[], @risk, @state, @decided_by,
        case when @state <> 'waiting' then now() end);

-- name: DecideChange :one
-- Decides the open change. If none is open, the last decision is repeated with the new state.
with decided as (
    update tool_changes
    set state = @state, decided_by = @decided_by, decided_at = now()
    where tool_changes.tenant_id = @tenant_id and tool_changes.connector_id = @connector_id and tool_changes.tool = @tool
      and tool_changes.state = 'waiting'
    returning tool_changes.id
), again as (
    insert into tool_changes (tenant_id, id, connector_id, tool, sync_run_id, before_hash, after_hash, kinds, risk, state, decided_by, decided_at)
    select last.tenant_id, @id, last.connector_id, last.tool, last.sync_run_id, last.before_hash, last.after_hash, last.kinds, last.risk,
           @state, @decided_by, now()
    from tool_changes last
    where last.tenant_id = @tenant_id and last.connector_id = @connector_id and last.tool = @tool and last.after_hash = @hash
      and not exists (select from decided)
    order by last.id desc
    limit 1
    returning tool_changes.id
)
select id from decided
union all
select id from again;

-- name: DecisionMarks :many
-- The newest change of each tool, where a person decided it. A connector is named by slug or id.
select last.id, last.state, last.after_hash, last.decided_at::timestamptz as decided_at, named.connector::text as connector, named.tool::text as tool
from (select unnest(@refs::text[]) as connector, unnest(@tools::text[]) as tool) named
join connectors on connectors.tenant_id = @tenant_id and (connectors.slug = named.connector or connectors.id::text = named.connector)
cross join lateral (
    select tool_changes.id, tool_changes.state, tool_changes.after_hash, tool_changes.decided_at
    from tool_changes
    where tool_changes.tenant_id = @tenant_id and tool_changes.connector_id = connectors.id and tool_changes.tool = named.tool
    order by tool_changes.id desc
    limit 1
) last
where last.state in ('accepted', 'rejected', 'kept') and last.after_hash is not null and last.decided_at is not null;

-- name: ToolOfChange :one
select connector_id, tool
from tool_changes
where tenant_id = @tenant_id and id = @id;

-- name: ReopenChange :exec
update tool_changes
set state = 'waiting', decided_by = '', decided_at = null
where tenant_id = @tenant_id and id = @id;

-- name: LockCosmetic :many
-- Connectors with open changes of risk none, locked in the order of ids.
select connectors.id
from connectors
where connectors.tenant_id = @tenant_id
  and connectors.id in (
      select tool_changes.connector_id
      from tool_changes
      where tool_changes.tenant_id = @tenant_id and tool_changes.state = 'waiting' and tool_changes.risk = 'none')
order by connectors.id
for no key update of connectors;

-- name: AcceptCosmetic :many
with decided as (
    update tool_changes
    set state = 'accepted', decided_by = @decided_by, decided_at = now()
    from tools
    where tool_changes.tenant_id = @tenant_id and tool_changes.state = 'waiting' and tool_changes.risk = 'none'
      and tool_changes.connector_id = any(@locked::uuid[])
      and tools.tenant_id = @tenant_id and tools.connector_id = tool_changes.connector_id and tools.name = tool_changes.tool
      and tools.current_hash = tool_changes.after_hash and tools.review in ('changed', 'new') and tools.removed_at is null
    returning tool_changes.connector_id, tool_changes.tool
)
update tools
set accepted_hash = current_hash, review = 'accepted'
from decided
where tools.tenant_id = @tenant_id and tools.connector_id = decided.connector_id and tools.name = decided.tool
returning tools.connector_id, tools.name;

-- name: LockInstructions :one
select server_instructions, accepted_instructions, instructions_review
from connectors
where tenant_id = @tenant_id and id = @id
for no key update;

-- name: AcceptInstructions :exec
update connectors
set accepted_instructions = null, instructions_review = 'accepted'
where tenant_id = @tenant_id and id = @id;

-- name: RejectInstructions :exec
update connectors
set instructions_review = 'rejected'
where tenant_id = @tenant_id and id = @id;

-- name: RestoreInstructions :exec
update connectors
set accepted_instructions = @accepted_instructions, instructions_review = @review
where tenant_id = @tenant_id and id = @id;

-- name: AcceptCosmeticInstructions :many
-- Only connectors locked by LockCosmetic.
with decided as (
    update tool_changes
    set state = 'accepted', decided_by = @decided_by, decided_at = now()
    from connectors
    where tool_changes.tenant_id = @tenant_id and tool_changes.state = 'waiting' and tool_changes.risk = 'none' and tool_changes.tool = ''
      and tool_changes.connector_id = any(@locked::uuid[])
      and connectors.tenant_id = @tenant_id and connectors.id = tool_changes.connector_id and connectors.instructions_review = 'changed'
    returning tool_changes.connector_id
)
update connectors
set accepted_instructions = null, instructions_review = 'accepted'
from decided
where connectors.tenant_id = @tenant_id and connectors.id = decided.connector_id
returning connectors.id;
