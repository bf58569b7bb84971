-- Embeddings of tool definitions.

-- name: ToolVectors :many
select definition_hash, vector
from tool_vectors
where tenant_id = @tenant_id and model = @model and definition_hash = any(@hashes::bytea[])
order by definition_hash;

-- name: AddToolVectors :exec
-- Definitions that were deleted meanwhile are left out.
insert into tool_vectors (tenant_id, definition_hash, model, vector)
select @tenant_id, definition.hash, @model::text, made.vector
from (select unnest(@hashes::bytea[]) as hash, unnest(@vectors::bytea[]) as vector) made
join tool_definitions definition on definition.tenant_id = @tenant_id and definition.hash = made.hash
order by definition.hash
on conflict on constraint tool_vectors_pkey do update set vector = excluded.vector;

-- name: DeleteOtherVectors :exec
delete from tool_vectors
where tenant_id = @tenant_id and definition_hash = any(@hashes::bytea[]) and model <> @model;
