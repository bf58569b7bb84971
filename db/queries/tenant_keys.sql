-- Keys that seal a tenant's secrets, sealed by the installation's key.

-- name: TenantKeys :one
select sealed
from tenant_keys
where tenant_id = @tenant_id;

-- name: TenantKeyDates :one
select created_at, updated_at
from tenant_keys
where tenant_id = @tenant_id;

-- name: AddTenantKeys :execrows
-- 0 rows: a concurrent insert won.
insert into tenant_keys (tenant_id, sealed, prefix)
values (@tenant_id, @sealed, @prefix)
on conflict (tenant_id) do nothing;

-- name: LockTenantKeys :one
select sealed
from tenant_keys
where tenant_id = @tenant_id
for no key update;

-- name: ReplaceTenantKeys :exec
update tenant_keys
set sealed = @sealed,
    prefix = @prefix,
    updated_at = now()
where tenant_id = @tenant_id;

-- name: IsRetiredTenantKey :one
select (exists (select from retired_tenant_keys r where r.tenant_id = @tenant_id and r.prefix = @prefix)
    or exists (select from retired_keys where retired_keys.prefix = @prefix))::boolean as taken;

-- name: RetireTenantKey :exec
insert into retired_tenant_keys (tenant_id, prefix)
values (@tenant_id, @prefix)
on conflict do nothing;
