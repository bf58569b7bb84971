-- Lists of connectors for MCP clients.

-- name: CreateRegistry :one
insert into registries (tenant_id, id, name, address_hash, every_connector, token_required)
values (@tenant_id, @id, @name, @address_hash, @every_connector, @token_required)
returning *;

-- name: CountRegistries :one
select count(*)
from registries
where tenant_id = @tenant_id;

-- name: Registries :many
select sqlc.embed(registries),
       array(select a.slug
             from registry_agents m
             join agents a on a.tenant_id = m.tenant_id and a.id = m.agent_id
             where m.tenant_id = registries.tenant_id and m.registry_id = registries.id
             order by a.slug)::text[] as agents
from registries
where registries.tenant_id = @tenant_id
  and (sqlc.narg(after_id)::uuid is null or registries.id > sqlc.narg(after_id))
order by registries.id
limit @max_rows;

-- name: Registry :one
select sqlc.embed(registries),
       array(select a.slug
             from registry_agents m
             join agents a on a.tenant_id = m.tenant_id and a.id = m.agent_id
             where m.tenant_id = registries.tenant_id and m.registry_id = registries.id
             order by a.slug)::text[] as agents
from registries
where registries.tenant_id = @tenant_id and registries.id = @id;

-- name: UpdateRegistry :execrows
update registries
set name = @name,
    every_connector = @every_connector,
    token_required = @token_required,
    updated_at = now()
where tenant_id = @tenant_id and id = @id;

-- name: SetRegistryAddress :execrows
update registries
set address_hash = @address_hash,
    rotated_at = now(),
    updated_at = now()
where tenant_id = @tenant_id and id = @id;

-- name: TouchRegistry :exec
-- At most one write a minute, as in TouchAPIKey.
update registries
set last_used_at = now()
where tenant_id = @tenant_id and id = @id and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: DeleteRegistry :execrows
delete from registries
where tenant_id = @tenant_id and id = @id;

-- name: DeleteRegistryAgents :exec
delete from registry_agents
where tenant_id = @tenant_id and registry_id = @registry_id;

-- name: AddRegistryAgents :execrows
insert into registry_agents (tenant_id, registry_id, agent_id)
select @tenant_id, @registry_id, agents.id
from agents
where agents.tenant_id = @tenant_id and agents.slug = any(@slugs::text[]);

-- name: RegistryServers :many
-- Enabled connectors, by slug: all of them, or those that an enabled agent of the registry holds a grant for. agent:
-- only what this agent holds, too. definitions is a hash of the definitions that are accepted; null: none is.
select c.slug, c.name, c.description, c.created_at,
       greatest(c.updated_at, t.changed_at)::timestamptz as updated_at,
       t.definitions::bytea as definitions
from connectors c
cross join lateral (
    select max(tools.changed_at) as changed_at,
           sha256(string_agg(convert_to(tools.name, 'UTF8') || tools.accepted_hash, ''::bytea order by tools.name collate "C")) as definitions
    from tools
    where tools.tenant_id = c.tenant_id and tools.connector_id = c.id
      and tools.enabled and tools.removed_at is null and tools.accepted_hash is not null
) t
where c.tenant_id = @tenant_id and c.enabled
  and (@every_connector::boolean and sqlc.narg(agent_id)::uuid is null
       or exists (select from agent_grants g
                  join agents a on a.tenant_id = g.tenant_id and a.id = g.agent_id and a.enabled
                  where g.tenant_id = c.tenant_id and g.connector_id = c.id
                    and (g.until is null or g.until > now()
                         or exists (select from jsonb_each_text(g.tool_ends) e where e.value is null or e.value::timestamptz > now()))
                    and (sqlc.narg(agent_id)::uuid is null or g.agent_id = sqlc.narg(agent_id))
                    and (@every_connector::boolean
                         or exists (select from registry_agents m
                                    where m.tenant_id = g.tenant_id and m.registry_id = @registry_id and m.agent_id = g.agent_id))))
  and (@after_slug::text = '' or c.slug > @after_slug)
  and (@slug::text = '' or c.slug = @slug)
  and (@search::text = '' or strpos(lower(@namespace::text || '/' || c.slug || ' ' || c.name), lower(@search)) > 0)
  and (sqlc.narg(updated_since)::timestamptz is null or greatest(c.updated_at, t.changed_at) >= sqlc.narg(updated_since))
order by c.slug
limit @max_rows;
