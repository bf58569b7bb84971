-- Across tenants: making them, finding them, and giving a fresh one its owner.

-- name: CreateTenant :one
-- No row: the slug is taken.
-- @sqlc-vet-disable tenant-scope
insert into tenants (id, slug, name)
values (@id, @slug, @name)
on conflict (slug) do nothing
returning tenants.*;

-- name: TakeAnyTime :exec
-- The statements of this transaction take as long as they take.
-- @sqlc-vet-disable tenant-scope
select set_config('statement_timeout', '0', true);

-- name: PeopleOfTenant :many
-- Whoever makes one of them a member of another tenant waits until the transaction ends.
select users.id
from memberships
join users on users.id = memberships.user_id
where memberships.tenant_id = @tenant_id
order by users.id
for update of users;

-- name: HoldTenant :exec
-- Whoever writes its calls holds it first, too, and after them what is on record of them.
-- @sqlc-vet-disable tenant-scope
select tenants.id
from tenants
where tenants.id = @id
for update;

-- name: DeleteCallsOfTenant :exec
-- Before its agents and connectors, whose end would change each of them.
delete from tool_calls
where tenant_id = @tenant_id;

-- name: ForgetPeopleWithoutTenant :exec
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
-- @sqlc-vet-disable tenant-scope
-- A link dies when an owner exists, however that came to be.
select setup_links.tenant_id
from setup_links
where setup_links.token_hash = @token_hash
  and not exists (
      select from memberships
      where memberships.tenant_id = setup_links.tenant_id and memberships.role = 'owner');

-- name: TakeSetupLink :execrows
-- @sqlc-vet-disable tenant-scope
delete from setup_links
where token_hash = @token_hash;

-- name: DropSetupLinks :exec
delete from setup_links
where tenant_id = @tenant_id;
