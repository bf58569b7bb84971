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

-- name: ConsumeConnectLink :one
-- @sqlc-vet-disable tenant-scope
delete from connect_links
where token_hash = @token_hash and expires_at > now()
returning *;
