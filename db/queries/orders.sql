-- name: ConnectorOrder :many
-- The ids of a sorted page. Only ids and keys are sorted; other columns are read for the page alone. key is a text in
-- which numbers and times have a fixed length. ranks: statuses in sort order.
select connectors.id, connectors.name, ordered.key::text as key
from connectors
left join (
    select credentials.connector_id, credentials.agent_id is null as shared, count(*) as stored,
           count(*) filter (where credentials.status in ('expired', 'revoked')) as ended
    from credentials
    where credentials.tenant_id = @tenant_id
    group by credentials.connector_id, credentials.agent_id is null
) held on held.connector_id = connectors.id and held.shared = (connectors.credential_mode = 'shared')
cross join lateral (
    select connector_status(connectors.status, connector_needs_credential(connectors.auth_type, coalesce(held.stored, 0), coalesce(held.ended, 0))) as status
) now
cross join lateral (
    select case @by::text
               when 'status' then lpad(coalesce(array_position(@ranks::text[], now.status), 0)::text, 2, '0')
               when 'tools' then lpad(connectors.tool_count::text, 10, '0')
               when 'synced' then coalesce(to_char(connectors.tools_last_synced_at at time zone 'UTC', 'YYYYMMDDHH24MISSUS'), '')
               else ''
           end as key) ordered
where connectors.tenant_id = @tenant_id
  and (@status::text = '' or now.status = @status)
  and (@pattern::text = '' or connectors.name ilike @pattern or connectors.slug ilike @pattern or connectors.url ilike @pattern)
  and (@transport::text = '' or connectors.transport = @transport)
  and (@auth_type::text = '' or connectors.auth_type = @auth_type)
  and (@tag::text = '' or @tag::text = any(connectors.tags))
  and (sqlc.narg(after_key)::text is null
       or case when @down::boolean then ordered.key < sqlc.narg(after_key) else ordered.key > sqlc.narg(after_key) end
       or ordered.key = sqlc.narg(after_key)
          and case when @names_down::boolean
                   then (lower(connectors.name), connectors.id) < (lower(@after_name::text), @after_id::uuid)
                   else (lower(connectors.name), connectors.id) > (lower(@after_name::text), @after_id::uuid) end)
order by case when @down::boolean then ordered.key end desc,
         case when not @down::boolean then ordered.key end,
         case when @names_down::boolean then lower(connectors.name) end desc,
         case when not @names_down::boolean then lower(connectors.name) end,
         case when @names_down::boolean then connectors.id end desc,
         case when not @names_down::boolean then connectors.id end
limit @max_rows;

-- name: AgentOrder :many
select sqlc.embed(agents), ordered.key::text as key
from agents
cross join lateral (
    select case @by::text
               when 'state' then agents.enabled::integer::text
               when 'approval' then agents.approval
               when 'added' then to_char(agents.created_at at time zone 'UTC', 'YYYYMMDDHH24MISSUS')
               else ''
           end as key) ordered
where agents.tenant_id = @tenant_id
  and (@pattern::text = '' or agents.name ilike @pattern or agents.slug ilike @pattern or agents.description ilike @pattern)
  and (@approval::text = '' or agents.approval = @approval)
  and (sqlc.narg(enabled)::boolean is null or agents.enabled = sqlc.narg(enabled))
  and (@ids::uuid[] is null or agents.id = any(@ids))
  and (sqlc.narg(after_key)::text is null
       or case when @down::boolean then ordered.key < sqlc.narg(after_key) else ordered.key > sqlc.narg(after_key) end
       or ordered.key = sqlc.narg(after_key)
          and case when @names_down::boolean
                   then (lower(agents.name), agents.id) < (lower(@after_name::text), @after_id::uuid)
                   else (lower(agents.name), agents.id) > (lower(@after_name::text), @after_id::uuid) end)
order by case when @down::boolean then ordered.key end desc,
         case when not @down::boolean then ordered.key end,
         case when @names_down::boolean then lower(agents.name) end desc,
         case when not @names_down::boolean then lower(agents.name) end,
         case when @names_down::boolean then agents.id end desc,
         case when not @names_down::boolean then agents.id end
limit @max_rows;

-- name: ToolOrder :many
-- The filters are those of Tools. A definition is read only for a text filter. moment is a timestamp because formatting
-- 20,000 of them as text costs more than the rest of the query.
with asked as materialized (
    select lower(@prefix::text) as prefix,
           case when numnode(websearch_to_tsquery('english', @query::text)) > 0
                then websearch_to_tsquery('english', @query::text)
                else websearch_to_tsquery('simple', @query::text)
           end as words
), found as materialized (
    select definition.hash
    from tool_definitions definition
    where definition.tenant_id = @tenant_id and @query::text <> '' and definition.search @@ (select asked.words from asked)
)
select tools.connector_id, tools.name, ordered.moment::timestamptz as moment, ordered.key::text as key
from tools
join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
cross join lateral (
    select case @by::text when 'changed' then tools.changed_at else 'epoch'::timestamptz end as moment,
           case @by::text when 'connector' then lower(connectors.name) else '' end as key) ordered
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
       or exists (select from tool_definitions definition
                  where definition.tenant_id = @tenant_id and definition.hash = tools.current_hash
                    and encode(definition.raw, 'escape') ~ @says::text))
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
  and (sqlc.narg(after_key)::text is null
       or case when @down::boolean
               then (ordered.moment, ordered.key) < (@after_moment::timestamptz, sqlc.narg(after_key))
               else (ordered.moment, ordered.key) > (@after_moment::timestamptz, sqlc.narg(after_key)) end
       or (ordered.moment, ordered.key) = (@after_moment::timestamptz, sqlc.narg(after_key))
          and case when @names_down::boolean
                   then (tools.name, tools.connector_id) < (@after_name::text, @after_id::uuid)
                   else (tools.name, tools.connector_id) > (@after_name::text, @after_id::uuid) end)
order by case when @down::boolean then ordered.moment end desc,
         case when not @down::boolean then ordered.moment end,
         case when @down::boolean then ordered.key end desc,
         case when not @down::boolean then ordered.key end,
         case when @names_down::boolean then tools.name end desc,
         case when not @names_down::boolean then tools.name end,
         case when @names_down::boolean then tools.connector_id end desc,
         case when not @names_down::boolean then tools.connector_id end
limit @max_rows;

-- name: CountTools :one
-- The filters are those of Tools.
with asked as materialized (
    select lower(@prefix::text) as prefix,
           case when numnode(websearch_to_tsquery('english', @query::text)) > 0
                then websearch_to_tsquery('english', @query::text)
                else websearch_to_tsquery('simple', @query::text)
           end as words
), found as materialized (
    select definition.hash
    from tool_definitions definition
    where definition.tenant_id = @tenant_id and @query::text <> '' and definition.search @@ (select asked.words from asked)
)
select count(*)
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
       or exists (select from tool_definitions definition
                  where definition.tenant_id = @tenant_id and definition.hash = tools.current_hash
                    and encode(definition.raw, 'escape') ~ @says::text))
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
       or lower(@query::text) = any(tools.tags));

-- name: ToolsByName :many
-- The tools of a page, in the order of the arrays. The page ends early at max_bytes, as in Tools.
with page as (
    select wanted.place,
           tools.connector_id, tools.name, tools.current_hash, tools.review, tools.enabled, tools.first_seen_at,
           tools.last_seen_at, tools.changed_at, tools.removed_at, tools.alias, tools.agent_text, tools.tags, tools.calls_per_minute, tools.calls_per_day,
           exists (select from tools other
                   where other.tenant_id = @tenant_id and other.connector_id = tools.connector_id
                     and other.alias = tools.name and other.alias <> '' and other.name <> tools.name and other.removed_at is null) as shadowed,
           connectors.slug, connectors.name as connector_name, connectors.tools_last_synced_at,
           definition.raw, definition.title, definition.description
    from (select unnest(@connectors::uuid[]) as connector_id, unnest(@names::text[]) as name,
                 generate_series(1, cardinality(@names::text[])) as place) wanted
    join tools on tools.tenant_id = @tenant_id and tools.connector_id = wanted.connector_id and tools.name = wanted.name
    join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
    join tool_definitions definition on definition.tenant_id = tools.tenant_id and definition.hash = tools.current_hash
), measured as (
    select page.*,
           row_number() over so_far as nth,
           sum(length(page.raw)) over so_far as bytes,
           lead(page.name) over so_far is not null as more
    from page
    window so_far as (order by page.place)
)
select connector_id, name, current_hash, review, enabled, first_seen_at, last_seen_at, changed_at, removed_at,
       alias, agent_text, tags, calls_per_minute, calls_per_day, shadowed::boolean as shadowed, slug, connector_name, tools_last_synced_at, raw, title, description, more::boolean as more
from measured
where nth = 1 or bytes <= @max_bytes::bigint
order by place;
