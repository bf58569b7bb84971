-- OAuth callbacks and connect links, across tenants.

-- name: ConsumeFlow :one
-- @sqlc-vet-disable tenant-scope
delete from oauth_flows
where state_hash = @state_hash and expires_at > now()
returning *;

-- name: ConnectLink :one
-- @sqlc-vet-disable tenant-scope
select connect_links.*
from connect_links
where token_hash = @token_hash and expires_at > now();

-- name: RegistryByAddress :one
-- @sqlc-vet-disable tenant-scope
select registries.*
from registries
where address_hash = @address_hash;

-- name: ConsumeConnectLink :one
-- @sqlc-vet-disable tenant-scope
delete from connect_links
where token_hash = @token_hash and expires_at > now()
returning *;
