-- The rotation of the sealing keys.

-- name: TryLockRotation :one
-- Held until the transaction ends: one rotation at a time.
select pg_try_advisory_xact_lock(hashtextextended('patchbay key rotation', 0));

-- name: TryLockSealed :one
-- Held until the transaction ends: nobody has written a secret that we cannot see, and nobody writes one. See refuse_retired_key.
select pg_try_advisory_xact_lock(hashtextextended('patchbay sealed', 0));

-- name: KeysetGeneration :one
select generation
from keysets
where purpose = 'seal';

-- name: KeysetDates :one
select created_at, updated_at
from keysets
where purpose = 'seal';

-- name: ReplaceSealingKeys :one
update keysets
set wrapped = @wrapped,
    generation = generation + 1,
    updated_at = now()
where purpose = 'seal'
returning generation;

-- name: IsRetiredKey :one
select exists (select from retired_keys where prefix = @prefix);

-- name: RetireKey :exec
insert into retired_keys (prefix)
values (@prefix)
on conflict do nothing;

-- name: InstancesOfGeneration :one
-- How many living processes there are, and how many of them have read the keys of a generation.
select count(*) as alive,
       count(*) filter (where keyset_generation >= @generation::integer) as ready
from instances
where beat_at >= now() - interval '6 seconds';

-- name: DropExpiredFlows :exec
-- @sqlc-vet-disable tenant-scope
delete from oauth_flows
where expires_at < now();
