-- name: FindByName :many
-- Connectors, agents and tools with all words in their names, by rank: the name begins with the prefix (0), a word of it
-- does (1), it contains the query (2), something else matches (3), as a connector's URL. A tool also matches by its
-- connector's name, a connector also by @verb. url and icon_hash are of the
-- connector. Each kind returns at most max_rows. The filter on tenant_id lets each
-- branch use the tenant's range of the primary key.
select found.kind, found.slug, found.name, found.of_slug, found.of_name, found.rank::integer as rank, found.url, found.icon_hash
from (
    (select 'connector'::text as kind, 1 as nth, connectors.slug, connectors.name, ''::text as of_slug, ''::text as of_name,
            case when connectors.name ilike @prefix::text then 0
                 when ' ' || translate(connectors.name, '_-.', '   ') ilike @word::text then 1
                 when connectors.name ilike @inside::text then 2
                 else 3 end as rank,
            connectors.url, connectors.icon_hash
     from connectors
     where connectors.tenant_id = @tenant_id
       and connectors.name || ' ' || connectors.slug || ' ' || connectors.url || ' ' || @verb::text ilike all(@words::text[])
     order by rank, lower(connectors.name), connectors.slug
     limit @max_rows)
    union all
    (select 'agent', 2, agents.slug, agents.name, '', '',
            case when agents.name ilike @prefix then 0
                 when ' ' || translate(agents.name, '_-.', '   ') ilike @word then 1
                 when agents.name ilike @inside then 2
                 else 3 end as rank,
            ''::text, null::bytea
     from agents
     where agents.tenant_id = @tenant_id and agents.name || ' ' || agents.slug ilike all(@words)
     order by rank, lower(agents.name), agents.slug
     limit @max_rows)
    union all
    (select 'tool', 3, tools.name, tools.name, connectors.slug, connectors.name,
            case when tools.name ilike @prefix then 0
                 when ' ' || translate(tools.name, '_-.', '   ') ilike @word then 1
                 when tools.name ilike @inside then 2
                 else 3 end as rank,
            connectors.url, connectors.icon_hash
     from tools
     join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
     where tools.tenant_id = @tenant_id and tools.removed_at is null
       and tools.name || ' ' || tools.alias || ' ' || connectors.name ilike all(@words)
     order by rank, lower(tools.name), connectors.slug
     limit @max_rows)
) found
order by found.nth, found.rank, lower(found.name), found.slug, found.of_slug;
