-- name: APIKeys :many
select id, name, role, prefix, created_at, expires_at, last_used_at, revoked_at, created_by_name
from api_keys
where tenant_id = @tenant_id
  and (sqlc.narg(before_id)::uuid is null or id < sqlc.narg(before_id))
order by id desc
limit @max_rows;

-- name: CreateAPIKey :one
insert into api_keys (tenant_id, id, name, role, prefix, secret_mac, expires_at, created_by_name)
values (@tenant_id, @id, @name, @role, @prefix, @secret_mac, @expires_at, @created_by_name)
returning id, name, role, prefix, created_at, expires_at, last_used_at, revoked_at, created_by_name;

-- name: RevokeAPIKey :execrows
-- A second revocation keeps the time of the first.
update api_keys
set revoked_at = coalesce(revoked_at, now())
where tenant_id = @tenant_id and id = @id;
