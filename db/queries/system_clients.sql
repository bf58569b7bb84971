-- Across tenants: programs that registered themselves, and whose codes and tokens are shown at the authorization server.

-- name: AgentClientTenant :one
-- @sqlc-vet-disable tenant-scope
select agent_clients.tenant_id
from agent_clients
where agent_clients.id = @id;

-- name: LockRegistrations :exec
-- Held until the transaction ends: one program registers after the other, so that the count holds.
select pg_advisory_xact_lock(hashtextextended('patchbay mcp clients', 0));

-- name: CountRegistrations :one
select count(*)
from mcp_clients
where address = @address and created_at > @since;

-- name: RegisterClient :exec
insert into mcp_clients (id, name, redirect_uris, address, created_at)
values (@id, @name, @redirect_uris, @address, @created_at);

-- name: DropOldestUnusedClients :execrows
-- Where more than so many wait to be used, the oldest of them make room.
delete from mcp_clients
where mcp_clients.id in (
    select waiting.id
    from mcp_clients waiting
    where waiting.used_on is null
    order by waiting.created_at desc
    offset @keep);

-- name: MCPClient :one
select id, name, redirect_uris, created_at
from mcp_clients
where id = @id;

-- name: UseMCPClient :exec
update mcp_clients
set used_on = current_date
where id = @id and used_on is distinct from current_date;

-- name: DropUnusedClients :execrows
-- Nobody let it in within a day; or nobody has for ninety, and it has no token.
delete from mcp_clients
where used_on is null and created_at < now() - interval '30 days'
   or used_on < current_date - 90;

-- name: DropEndedAgentClients :execrows
-- Codes that nobody came for, and programs that have not renewed their token in time. A code that was used is remembered with its program.
-- @sqlc-vet-disable tenant-scope
delete from agent_clients
where expires_at < now() - interval '10 minutes';

-- name: DropEndedClientTokens :execrows
-- @sqlc-vet-disable tenant-scope
delete from agent_tokens
where agent_client_id is not null and expires_at < now() - interval '10 minutes';
