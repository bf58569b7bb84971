-- What the store keeps for itself: the wrapped keys, and the browsers' sessions.

-- name: LockKeysets :exec
-- Held until the transaction ends, so that processes that start together agree on one keyring.
select pg_advisory_xact_lock(hashtextextended('patchbay keysets', 0));

-- name: Keysets :many
select purpose, wrapped, moving, generation, per_tenant, version
from keysets
order by purpose;

-- name: WrappedKeysets :many
-- As of the first migration, and of 00050 where that has run: whether a key is the right one is asked before the later ones run.
select purpose, wrapped, decode(coalesce(substr(to_jsonb(keysets) ->> 'moving', 3), ''), 'hex')::bytea as moving
from keysets
order by purpose;

-- name: SaveKeyset :exec
-- Of a fresh installation: its tenants have keys of their own from the beginning.
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
