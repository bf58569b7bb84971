-- name: Tools :many
-- A page ends early at max_bytes of definitions, with at least one row. more: rows follow. Keys are selected first, and
-- other columns are read for the page alone. asked and found are materialized to be computed once. shadowed: another
-- tool of the connector has this name as its alias. says: a regular expression over the raw definition, which may not
-- be valid jsonb.
with asked as materialized (
    select lower(@prefix::text) as prefix,
           case when numnode(websearch_to_tsquery('english', @query::text)) > 0
                then websearch_to_tsquery('english', @query::text)
                else websearch_to_tsquery('simple', @query::text) -- "all" and "on" are stop words of english
           end as words
), found as materialized (
    select definition.hash
    from tool_definitions definition
    where definition.tenant_id = @tenant_id and @query::text <> '' and definition.search @@ (select asked.words from asked)
), listed as materialized (
    select tools.connector_id, tools.name, tools.current_hash, tools.review, tools.enabled, tools.first_seen_at,
           tools.last_seen_at, tools.changed_at, tools.removed_at, tools.alias, tools.agent_text, tools.tags, tools.calls_per_minute, tools.calls_per_day
    from tools
    where tools.tenant_id = @tenant_id
      and (sqlc.narg(connector)::uuid is null or tools.connector_id = sqlc.narg(connector))
      and (@removed::boolean or tools.removed_at is null)
      and (@tag::text = '' or @tag::text = any(tools.tags))
      and (@state::text = ''
           or @state::text = 'enabled' and tools.enabled
           or @state::text = 'disabled' and not tools.enabled
           or @state::text = 'changed' and tools.review = 'changed'
           or @state::text = 'held' and tools.review not in ('accepted', 'kept')
           or @state::text = 'kept' and tools.review = 'kept'
           or @state::text = 'curated' and (tools.alias <> '' or tools.agent_text <> ''))
      and (@says::text = ''
           or exists (select from tool_definitions said
                      where said.tenant_id = @tenant_id and said.hash = tools.current_hash and encode(said.raw, 'escape') ~ @says::text))
      and (@pattern::text = ''
           or tools.name ~* @pattern::text or tools.alias ~* @pattern::text or tools.agent_text ~* @pattern::text
           or exists (select from tool_definitions matched
                      where matched.tenant_id = @tenant_id and matched.hash = tools.current_hash
                        and (matched.title ~* @pattern::text or matched.description ~* @pattern::text)))
      and (@query::text = ''
           or tools.current_hash in (select found.hash from found)
           or lower(tools.name) like (select asked.prefix from asked)
           or tools.alias <> '' and lower(tools.alias) like (select asked.prefix from asked)
           or tools.agent_text <> '' and lower(tools.agent_text) like '%' || (select asked.prefix from asked)
           or lower(@query::text) = any(tools.tags))
      and (sqlc.narg(after_name)::text is null
           or (tools.name, tools.connector_id) > (sqlc.narg(after_name), sqlc.narg(after_connector)::uuid))
    order by tools.name, tools.connector_id
    limit @max_rows
), page as (
    select listed.connector_id, listed.name, listed.current_hash, listed.review, listed.enabled, listed.first_seen_at,
           listed.last_seen_at, listed.changed_at, listed.removed_at, listed.alias, listed.agent_text, listed.tags, listed.calls_per_minute, listed.calls_per_day,
           exists (select from tools other
                   where other.tenant_id = @tenant_id and other.connector_id = listed.connector_id
                     and other.alias = listed.name and other.alias <> '' and other.name <> listed.name and other.removed_at is null) as shadowed,
           connectors.slug, connectors.name as connector_name, connectors.tools_last_synced_at,
           definition.raw, definition.title, definition.description
    from listed
    join connectors on connectors.tenant_id = @tenant_id and connectors.id = listed.connector_id
    join tool_definitions definition on definition.tenant_id = @tenant_id and definition.hash = listed.current_hash
), measured as (
    select page.*,
           row_number() over so_far as nth,
           sum(length(page.raw)) over so_far as bytes,
           lead(page.name) over so_far is not null as more
    from page
    window so_far as (order by page.name, page.connector_id)
)
select connector_id, name, current_hash, review, enabled, first_seen_at, last_seen_at, changed_at, removed_at,
       alias, agent_text, tags, calls_per_minute, calls_per_day, shadowed::boolean as shadowed, slug, connector_name, tools_last_synced_at, raw, title, description, more::boolean as more
from measured
where nth = 1 or bytes <= @max_bytes::bigint
order by name, connector_id;

-- name: Tool :one
select sqlc.embed(tools),
       exists (select from tools other
               where other.tenant_id = @tenant_id and other.connector_id = @connector_id
                 and other.alias = @name and other.alias <> '' and other.name <> @name and other.removed_at is null) as shadowed,
       connectors.slug, connectors.name as connector_name, connectors.tools_last_synced_at,
       definition.raw, definition.title, definition.description
from tools
join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
join tool_definitions definition on definition.tenant_id = tools.tenant_id and definition.hash = tools.current_hash
where tools.tenant_id = @tenant_id and tools.connector_id = @connector_id and tools.name = @name;

-- name: ToolStates :many
select name, current_hash, accepted_hash, review, (removed_at is not null)::boolean as removed
from tools
where tenant_id = @tenant_id and connector_id = @connector_id
order by name;

-- name: CountOutdatedTools :one
-- Tools with another state than the one that a list was compared with.
select count(*)
from (select unnest(@names::text[]) as name,
             unnest(@current_hashes::bytea[]) as current_hash,
             unnest(@accepted_hashes::bytea[]) as accepted_hash,
             unnest(@reviews::text[]) as review) base
left join tools on tools.tenant_id = @tenant_id and tools.connector_id = @connector_id and tools.name = base.name
where tools.current_hash is distinct from base.current_hash or tools.accepted_hash is distinct from base.accepted_hash
   or coalesce(tools.review, '') <> base.review;

-- name: Quarantined :many
-- The page ends early at max_bytes, as in Tools.
with page as (
    select q.position, q.name, q.reason, q.raw
    from quarantined_tools q
    where q.tenant_id = @tenant_id and q.connector_id = @connector_id and q.position > @after_position
    order by q.position
    limit @max_rows
), measured as (
    select page.position, page.name, page.reason, page.raw,
           row_number() over so_far as nth,
           sum(length(page.raw)) over so_far as bytes,
           lead(page.position) over so_far is not null as more
    from page
    window so_far as (order by page.position)
)
select measured.position, measured.name, measured.reason, measured.raw, measured.more::boolean as more
from measured
where measured.nth = 1 or measured.bytes <= @max_bytes::bigint
order by measured.position;

-- name: InsertDefinitions :exec
-- Known definitions are locked, not changed. If one is being deleted, the statement waits and inserts it again. The
-- arrays are sorted by hash: concurrent syncs lock in one order.
with known as materialized (
    select tool_definitions.hash
    from tool_definitions
    where tool_definitions.tenant_id = @tenant_id and tool_definitions.hash = any(@hashes::bytea[])
    order by tool_definitions.hash
    for key share
)
insert into tool_definitions (tenant_id, hash, raw, title, description, search)
select @tenant_id, new.hash, new.raw, new.title, new.description,
       setweight(to_tsvector('simple', new.words), 'A')
       || setweight(to_tsvector('english', new.words), 'A')
       || setweight(to_tsvector('english', left(new.title, 1000)), 'B')
       || setweight(to_tsvector('english', left(new.description, 20000)), 'C')
from (select unnest(@hashes::bytea[]) as hash,
             unnest(@raws::bytea[]) as raw,
             unnest(@titles::text[]) as title,
             unnest(@descriptions::text[]) as description,
             unnest(@words::text[]) as words) new
where not exists (select from known where known.hash = new.hash)
on conflict (tenant_id, hash) do nothing;

-- name: WriteTools :exec
insert into tools (tenant_id, connector_id, name, current_hash, accepted_hash, review, first_seen_at, last_seen_at, changed_at)
select @tenant_id, @connector_id, new.name, new.current_hash, new.accepted_hash, new.review, now(), now(), now()
from (select unnest(@names::text[]) as name,
             unnest(@current_hashes::bytea[]) as current_hash,
             unnest(@accepted_hashes::bytea[]) as accepted_hash,
             unnest(@reviews::text[]) as review) new
on conflict (tenant_id, connector_id, name) do update
set current_hash = excluded.current_hash,
    accepted_hash = excluded.accepted_hash,
    review = excluded.review,
    last_seen_at = now(),
    changed_at = case when tools.current_hash = excluded.current_hash then tools.changed_at else now() end,
    removed_at = null;

-- name: RemoveTools :exec
-- last_seen_at is the time of the last successful sync before this one.
update tools
set removed_at = now(),
    last_seen_at = coalesce(connectors.tools_last_synced_at, tools.last_seen_at)
from connectors
where tools.tenant_id = @tenant_id and tools.connector_id = @connector_id and tools.name = any(@names::text[])
  and connectors.tenant_id = @tenant_id and connectors.id = @connector_id
  and tools.removed_at is null;

-- name: DeleteQuarantined :exec
delete from quarantined_tools
where tenant_id = @tenant_id and connector_id = @connector_id;

-- name: InsertQuarantined :exec
insert into quarantined_tools (tenant_id, connector_id, position, name, reason, raw)
select @tenant_id, @connector_id, new.position, nullif(new.name, ''), new.reason, new.raw
from (select unnest(@positions::integer[]) as position,
             unnest(@names::text[]) as name,
             unnest(@reasons::text[]) as reason,
             unnest(@raws::bytea[]) as raw) new;

-- name: Definitions :many
select hash, raw
from tool_definitions
where tenant_id = @tenant_id and hash = any(@hashes::bytea[]);

-- name: LockConnector :one
-- Serializes changes of tool names with each other and with the end of a sync.
select id
from connectors
where tenant_id = @tenant_id and id = @id
for no key update;

-- name: CuratedTools :many
-- Removed tools are included.
select name, enabled, alias, agent_text, tags, calls_per_minute, calls_per_day, (removed_at is not null)::boolean as removed
from tools
where tenant_id = @tenant_id and connector_id = @connector_id
order by name;

-- name: FreeAliases :exec
-- Runs before new aliases are set, so that two tools can swap theirs.
update tools
set alias = ''
where tenant_id = @tenant_id and connector_id = @connector_id and name = any(@names::text[]) and alias <> '';

-- name: CurateTools :exec
-- tags: space-separated for each tool.
update tools
set enabled = new.enabled, alias = new.alias, agent_text = new.agent_text, tags = string_to_array(new.tags, ' '),
    calls_per_minute = new.calls_per_minute, calls_per_day = new.calls_per_day
from (select unnest(@names::text[]) as name,
             unnest(@enabled::boolean[]) as enabled,
             unnest(@aliases::text[]) as alias,
             unnest(@agent_texts::text[]) as agent_text,
             unnest(@tags::text[]) as tags,
             unnest(@calls_per_minutes::integer[]) as calls_per_minute,
             unnest(@calls_per_days::integer[]) as calls_per_day) new
where tools.tenant_id = @tenant_id and tools.connector_id = @connector_id and tools.name = new.name;

-- name: ToolTags :many
select distinct tag::text as tag
from tools, unnest(tools.tags) tag
where tools.tenant_id = @tenant_id and tools.connector_id = @connector_id
order by tag
limit 200;
