-- What a KMS holds for the installation, and the move of its keys from one PATCHBAY_KEYSET to another.

-- name: KMSKey :one
select wrapped
from kms_keys
where uri = @uri;

-- name: AddKMSKey :exec
-- Another process may have been faster: its key counts.
insert into kms_keys (uri, wrapped)
values (@uri, @wrapped)
on conflict (uri) do nothing;

-- name: DropOtherKMSKeys :exec
delete from kms_keys
where uri <> @uri;

-- name: MoveKeyset :exec
update keysets
set moving = @moving
where purpose = @purpose;

-- name: EndMove :exec
-- A process that has the key of before all the same reads the keys again, and says that it cannot.
update keysets
set wrapped = moving,
    moving = null,
    generation = generation + 1
where moving is not null;

-- name: AbandonMove :exec
update keysets
set moving = null;

-- name: InstancesWithKEK :one
-- How many living processes there are, and how many of them have a key.
select count(*) as alive,
       count(*) filter (where kek = @kek::bytea) as ready
from instances
where beat_at >= now() - interval '6 seconds';
