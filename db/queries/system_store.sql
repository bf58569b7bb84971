-- Wrapped keysets and session data.

-- name: LockKeysets :exec
-- Serializes starting processes, so that they agree on one keyring.
select pg_advisory_xact_lock(hashtextextended('patchbay keysets', 0));

-- name: Keysets :many
select purpose, wrapped, moving, generation, per_tenant, version
from keysets
order by purpose;

-- name: WrappedKeysets :many
-- Needs no column of a later migration: the key is checked before migrations run.
select purpose, wrapped, decode(coalesce(substr(to_jsonb(keysets) ->> 'moving', 3), ''), 'hex')::bytea as moving
from keysets
order by purpose;

-- name: SaveKeyset :exec
-- For a new installation: tenants have their own keys.
insert into keysets (purpose, wrapped, per_tenant)
values (@purpose, @wrapped, true);

-- name: SessionData :one
select data
from sessions
where token = @token and expiry > now();

-- name: SaveSession :exec
insert into sessions (token, data, expiry)
values (@token, @data, @expiry)
on conflict (token) do update set data = excluded.data, expiry = excluded.expiry;

-- name: DeleteSession :exec
delete from sessions
where token = @token;

-- name: DeleteExpiredSessions :exec
delete from sessions
where expiry < now();
