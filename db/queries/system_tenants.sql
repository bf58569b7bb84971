-- Creation, lookup and deletion of tenants, and the setup of a new one.

-- name: CreateTenant :one
-- No row: the slug is taken.
-- @sqlc-vet-disable tenant-scope
insert into tenants (id, slug, name)
values (@id, @slug, @name)
on conflict (slug) do nothing
returning tenants.*;

-- name: MarkSample :execrows
-- @sqlc-vet-disable tenant-scope
update tenants
set sample = true
where id = @id;

-- name: DisableStatementTimeout :exec
-- For the rest of the transaction.
-- @sqlc-vet-disable tenant-scope
select set_config('statement_timeout', '0', true);

-- name: LockUsersOfTenant :many
-- Inserts of other memberships of these users wait until the transaction ends.
select users.id
from memberships
join users on users.id = memberships.user_id
where memberships.tenant_id = @tenant_id
order by users.id
for update of users;

-- name: LockTenantForDelete :exec
-- The writer of call history also locks the tenant first, and the outcome chain after it.
-- @sqlc-vet-disable tenant-scope
select tenants.id
from tenants
where tenants.id = @id
for update;

-- name: DeleteCallsOfTenant :exec
-- Runs before agents and connectors are deleted: their deletion would update each call.
delete from tool_calls
where tenant_id = @tenant_id;

-- name: DeleteUsersWithoutTenant :exec
-- @sqlc-vet-disable tenant-scope
delete from users
where id = any(@ids::uuid[])
  and not exists (select from memberships where memberships.user_id = users.id);

-- name: DeleteTenant :execrows
-- @sqlc-vet-disable tenant-scope
delete from tenants
where id = @id;

-- name: Tenants :many
-- @sqlc-vet-disable tenant-scope
select tenants.*
from tenants
order by lower(name), id;

-- name: TenantBySlug :one
-- @sqlc-vet-disable tenant-scope
select tenants.*
from tenants
where slug = @slug;

-- name: LockTenant :one
select tenants.id
from tenants
where tenants.id = @tenant_id
for update;

-- name: HasOwner :one
select exists (
    select from memberships
    where tenant_id = @tenant_id and role = 'owner');

-- name: SaveSetupLink :exec
insert into setup_links (tenant_id, token_hash)
values (@tenant_id, @token_hash);

-- name: SetupLink :one
-- A link is invalid as soon as its tenant has an owner.
-- @sqlc-vet-disable tenant-scope
select setup_links.tenant_id
from setup_links
where setup_links.token_hash = @token_hash
  and not exists (
      select from memberships
      where memberships.tenant_id = setup_links.tenant_id and memberships.role = 'owner');

-- name: ConsumeSetupLink :execrows
-- @sqlc-vet-disable tenant-scope
delete from setup_links
where token_hash = @token_hash;

-- name: DeleteSetupLinks :exec
delete from setup_links
where tenant_id = @tenant_id;
