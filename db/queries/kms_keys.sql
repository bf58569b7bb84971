-- Keys wrapped by a KMS, and the change of PATCHBAY_KEYSET.

-- name: KMSKey :one
select wrapped
from kms_keys
where uri = @uri;

-- name: AddKMSKey :exec
-- The first process to insert wins.
insert into kms_keys (uri, wrapped)
values (@uri, @wrapped)
on conflict (uri) do nothing;

-- name: DeleteOtherKMSKeys :exec
delete from kms_keys
where uri <> @uri;

-- name: SetKeysetMoving :exec
update keysets
set moving = @moving
where purpose = @purpose;

-- name: FinishKeysetMove :exec
-- The new generation makes every process read the keys again. A process that still has the old key fails then.
update keysets
set wrapped = moving,
    moving = null,
    generation = generation + 1
where moving is not null;

-- name: CancelKeysetMove :exec
update keysets
set moving = null;

-- name: InstancesWithKEK :one
-- Live processes, and those of them that have the key.
select count(*) as alive,
       count(*) filter (where kek = @kek::bytea) as ready
from instances
where beat_at >= now() - interval '6 seconds';
