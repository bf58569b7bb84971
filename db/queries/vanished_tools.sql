-- Tools that a server lists no more: all or most of those before. The state is in connector_clock.

-- name: BeginVanish :one
-- Runs in the transaction of RemoveTools. before: the tools of the list before. A loss that is known already grows.
with missing as (
    select count(*)::integer as tools
    from tools
    join connector_clock clock on clock.tenant_id = tools.tenant_id and clock.connector_id = tools.connector_id
    where tools.tenant_id = @tenant_id and tools.connector_id = @connector_id and tools.removed_at >= coalesce(clock.vanished_at, now())
)
update connector_clock
set vanished_at = coalesce(vanished_at, now()),
    vanished_tools = missing.tools,
    vanished_of = greatest(vanished_of, @before::integer, missing.tools)
from missing
where connector_clock.tenant_id = @tenant_id and connector_clock.connector_id = @connector_id
returning vanished_tools::integer as vanished_tools, vanished_of::integer as vanished_of;

-- name: RecountVanished :exec
-- Runs in the transaction of WriteTools. The loss ends when at most half of the tools are missing.
with counted as (
    select clock.vanished_of as before, (
        select count(*)::integer
        from tools
        where tools.tenant_id = @tenant_id and tools.connector_id = @connector_id and tools.removed_at >= clock.vanished_at
    ) as missing
    from connector_clock clock
    where clock.tenant_id = @tenant_id and clock.connector_id = @connector_id and clock.vanished_at is not null
)
update connector_clock
set vanished_at = case when counted.missing * 2 > counted.before then vanished_at end,
    vanished_tools = case when counted.missing * 2 > counted.before then counted.missing end,
    vanished_of = case when counted.missing * 2 > counted.before then vanished_of end
from counted
where connector_clock.tenant_id = @tenant_id and connector_clock.connector_id = @connector_id;

-- name: AcknowledgeVanished :exec
update connector_clock
set vanished_at = null, vanished_tools = null, vanished_of = null
where tenant_id = @tenant_id and connector_id = @connector_id and vanished_at is not null;

-- name: VanishedState :one
select jsonb_build_object('vanished_tools', coalesce(vanished_tools, 0)) as state
from connector_clock
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: AttentionVanished :many
select connectors.slug, connectors.name, connectors.url, connectors.icon_hash, clock.vanished_at::timestamptz as vanished_at, clock.vanished_tools::integer as vanished_tools,
       clock.vanished_of::integer as vanished_of, count(*) over () as total
from connector_clock clock
join connectors on connectors.tenant_id = clock.tenant_id and connectors.id = clock.connector_id
where clock.tenant_id = @tenant_id and clock.vanished_at is not null and connectors.enabled
order by clock.vanished_at desc, connectors.id desc
limit @max_rows;
