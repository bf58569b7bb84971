-- name: Agents :many
select agents.*
from agents
where tenant_id = @tenant_id
  and (@pattern::text = '' or name ilike @pattern or slug ilike @pattern or description ilike @pattern)
  and (@approval::text = '' or approval = @approval)
  and (sqlc.narg(enabled)::boolean is null or enabled = sqlc.narg(enabled))
  and (@ids::uuid[] is null or id = any(@ids))
  and (sqlc.narg(after_name)::text is null or (lower(name), id) > (lower(sqlc.narg(after_name)), sqlc.narg(after_id)::uuid))
order by lower(name), id
limit @max_rows;

-- name: AgentByRef :one
select agents.*
from agents
where agents.tenant_id = @tenant_id
  and agents.id = coalesce(
      sqlc.narg(id)::uuid,
      (select named.id from agents named where named.tenant_id = @tenant_id and named.slug = sqlc.narg(slug)::text));

-- name: LockAgent :one
-- The share lock waits for a concurrent change of the agent. A later disable or delete then sees the rows that this
-- transaction adds.
select agents.id
from agents
where agents.tenant_id = @tenant_id and agents.id = @id
for share;

-- name: CreateAgent :one
insert into agents (tenant_id, id, slug, name, description, approval, enabled, name_limit, calls_per_minute, tool_list)
values (@tenant_id, @id, @slug, @name, @description, @approval, @enabled, @name_limit, @calls_per_minute, @tool_list)
returning agents.*;

-- name: UpdateAgent :one
update agents
set slug = @slug,
    name = @name,
    description = @description,
    approval = @approval,
    enabled = @enabled,
    name_limit = @name_limit,
    calls_per_minute = @calls_per_minute,
    tool_list = @tool_list,
    updated_at = now()
where tenant_id = @tenant_id and id = @id
returning agents.*;

-- name: DeleteAgent :execrows
delete from agents
where tenant_id = @tenant_id and id = @id;
