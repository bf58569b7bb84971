-- Rotation of the sealing and MAC keys.

-- name: TryLockRotation :one
-- One rotation at a time. The lock ends with the transaction.
select pg_try_advisory_xact_lock(hashtextextended('patchbay key rotation', 0));

-- name: TryLockSealed :one
-- False while a transaction that writes secrets is open. The lock excludes new ones until the transaction ends. See
-- refuse_retired_key.
select pg_try_advisory_xact_lock(hashtextextended('patchbay sealed', 0));

-- name: KeysetGeneration :one
select generation
from keysets
where purpose = 'seal';

-- name: KeysetDates :one
select created_at, updated_at
from keysets
where purpose = 'seal';

-- name: EnableTenantKeys :exec
update keysets
set per_tenant = true,
    generation = generation + 1
where purpose = 'seal';

-- name: IncrementKeysetGeneration :exec
-- Makes every process read the tenant keys again.
update keysets
set generation = generation + 1
where purpose = 'seal';

-- name: ReplaceSealingKeys :one
update keysets
set wrapped = @wrapped,
    generation = generation + 1,
    updated_at = now()
where purpose = 'seal'
returning generation;

-- name: IsRetiredKey :one
-- Tenant keys are included: a prefix must be unique among all keys that can seal a row.
-- @sqlc-vet-disable tenant-scope
select (exists (select from retired_keys where retired_keys.prefix = @prefix)
    or exists (select from tenant_keys where tenant_keys.prefix = @prefix))::boolean as taken;

-- name: RetireKey :exec
insert into retired_keys (prefix)
values (@prefix)
on conflict do nothing;

-- name: InstancesOfGeneration :one
-- Live processes, and those of them that have loaded the generation and support tenant keys.
select count(*) as alive,
       count(*) filter (where keyset_generation >= @generation::integer and tenant_keys) as ready
from instances
where beat_at >= now() - interval '6 seconds';

-- name: DeleteExpiredFlows :exec
-- @sqlc-vet-disable tenant-scope
delete from oauth_flows
where expires_at < now();

-- name: KeysOfTenants :many
-- Tenants that a process has cached. Those without a row were deleted.
-- @sqlc-vet-disable tenant-scope
select tenant_id, sealed
from tenant_keys
where tenant_id = any(@tenants::uuid[]);

-- name: ReplaceMACKeys :exec
update keysets
set wrapped = @wrapped,
    version = @version,
    updated_at = now()
where purpose = 'mac';

-- name: IsRetiredMACKey :one
select exists (select from retired_mac_keys where prefix = @prefix);

-- name: RetireMACKey :exec
insert into retired_mac_keys (prefix)
values (@prefix)
on conflict do nothing;

-- name: CountsByMACKey :many
-- MAC keys of API keys, tokens and recovery codes that are still valid, with counts.
-- @sqlc-vet-disable tenant-scope
select prefix, sum(one_key)::bigint as api_keys, sum(one_token)::bigint as tokens, sum(one_code)::bigint as codes
from (
    select substring(secret_mac from 1 for 5)::bytea as prefix, 1 as one_key, 0 as one_token, 0 as one_code
    from api_keys
    where revoked_at is null and (expires_at is null or expires_at > now())
    union all
    select substring(secret_mac from 1 for 5)::bytea, 1, 0, 0
    from scim_settings
    union all
    select substring(secret_mac from 1 for 5)::bytea, 0, 1, 0
    from agent_tokens
    where expires_at is null or expires_at > now()
    union all
    select substring(secret_mac from 1 for 5)::bytea, 0, 1, 0
    from member_tokens
    where expires_at > now()
    union all
    select substring(mac from 1 for 5)::bytea, 0, 0, 1
    from recovery_codes
    where used_at is null
) as bearers
group by prefix
order by prefix;
