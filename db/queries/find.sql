-- name: FindByName :many
-- Connectors, agents and tools with all words in their names. Names that begin with the prefix come first. A tool also
-- matches by its connector's name, a connector also by @verb. Each kind returns at most max_rows. The filter on
-- tenant_id lets each branch use the tenant's range of the primary key.
select found.kind, found.slug, found.name, found.of_slug, found.of_name
from (
    (select 'connector'::text as kind, 1 as nth, connectors.slug, connectors.name, ''::text as of_slug, ''::text as of_name,
            connectors.name ilike @prefix::text as begins
     from connectors
     where connectors.tenant_id = @tenant_id
       and connectors.name || ' ' || connectors.slug || ' ' || connectors.url || ' ' || @verb::text ilike all(@words::text[])
     order by connectors.name ilike @prefix desc, lower(connectors.name), connectors.slug
     limit @max_rows)
    union all
    (select 'agent', 2, agents.slug, agents.name, '', '', agents.name ilike @prefix
     from agents
     where agents.tenant_id = @tenant_id and agents.name || ' ' || agents.slug ilike all(@words)
     order by agents.name ilike @prefix desc, lower(agents.name), agents.slug
     limit @max_rows)
    union all
    (select 'tool', 3, tools.name, tools.name, connectors.slug, connectors.name, tools.name ilike @prefix
     from tools
     join connectors on connectors.tenant_id = tools.tenant_id and connectors.id = tools.connector_id
     where tools.tenant_id = @tenant_id and tools.removed_at is null
       and tools.name || ' ' || tools.alias || ' ' || connectors.name ilike all(@words)
     order by tools.name ilike @prefix desc, lower(tools.name), connectors.slug
     limit @max_rows)
) found
order by found.nth, found.begins desc, lower(found.name), found.slug, found.of_slug;
