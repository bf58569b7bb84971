-- OAuth clients across tenants: registrations, codes and tokens presented to the authorization server.

-- name: AgentClientTenant :one
-- @sqlc-vet-disable tenant-scope
select agent_clients.tenant_id
from agent_clients
where agent_clients.id = @id;

-- name: Workload :one
-- @sqlc-vet-disable tenant-scope
select agent_workloads.*
from agent_workloads
where agent_workloads.id = @id;

-- name: LockRegistrations :exec
-- Serializes registrations, so that the count holds.
select pg_advisory_xact_lock(hashtextextended('patchbay mcp clients', 0));

-- name: CountRegistrations :one
select count(*)
from mcp_clients
where address = @address and created_at > @since;

-- name: RegisterClient :exec
insert into mcp_clients (id, name, redirect_uris, address, created_at, dpop_required)
values (@id, @name, @redirect_uris, @address, @created_at, @dpop_required);

-- name: DeleteOldestUnusedClients :execrows
-- At most @keep unused clients stay. Networks with the most lose their oldest first, so a flood displaces only itself.
delete from mcp_clients
where mcp_clients.id in (
    select waiting.id
    from (
        select mcp_clients.id, mcp_clients.created_at,
               row_number() over (partition by mcp_clients.address order by mcp_clients.created_at desc, mcp_clients.id) as place
        from mcp_clients
        where mcp_clients.used_on is null
    ) waiting
    order by waiting.place, waiting.created_at desc, waiting.id
    offset @keep);

-- name: MCPClient :one
select id, name, redirect_uris, created_at, dpop_required
from mcp_clients
where id = @id;

-- name: TouchMCPClient :exec
update mcp_clients
set used_on = current_date
where id = @id and used_on is distinct from current_date;

-- name: DeleteUnusedClients :execrows
-- Clients that were not authorized within 30 days, or not used for 90.
delete from mcp_clients
where used_on is null and created_at < now() - interval '30 days'
   or used_on < current_date - 90;

-- name: DeleteEndedAgentClients :execrows
-- Expired codes and refresh tokens. A used code is kept as long as its client.
-- @sqlc-vet-disable tenant-scope
delete from agent_clients
where expires_at < now() - interval '10 minutes';

-- name: DeleteEndedMemberTokens :execrows
-- @sqlc-vet-disable tenant-scope
delete from member_tokens
where expires_at < now() - interval '10 minutes';

-- name: DeleteSpentConfirmations :execrows
-- @sqlc-vet-disable tenant-scope
delete from spent_confirmations
where until < now() - interval '10 minutes';

-- name: DeleteExpiredAssertions :execrows
-- @sqlc-vet-disable tenant-scope
delete from used_assertions
where expires_at < now() - interval '10 minutes';

-- name: DeleteExpiredProofs :execrows
-- @sqlc-vet-disable tenant-scope
delete from used_proofs
where expires_at < now() - interval '10 minutes';

-- name: MemberToken :one
-- The access token of a client that acts as a member, with the member's current state.
-- @sqlc-vet-disable tenant-scope
select sqlc.embed(tenants), member_tokens.secret_mac, member_tokens.key_thumbprint, member_tokens.created_at, member_tokens.expires_at, member_tokens.last_used_at,
       c.id as agent_client_id, c.client_id, c.client_name, c.client_host, c.scope, c.by_sso, c.created_at as let_in_at, c.user_id,
       memberships.role, users.address as email, users.name, (users.issued_by is not null)::boolean as issued,
       coalesce(greatest(users.signed_out_at, memberships.signed_out_at), 'epoch')::timestamptz as signed_out_at,
       coalesce(sso.enabled, false)::boolean as sso,
       (memberships.sso_only or coalesce(sso.enforced and sso.break_glass <> memberships.user_id, false))::boolean as sso_only,
       coalesce((
           select max(i.signed_in_at)
           from sso_identities i
           where i.tenant_id = memberships.tenant_id and i.user_id = memberships.user_id), 'epoch')::timestamptz as sso_signed_in_at,
       (f.confirmed_at is not null)::boolean as second_factor
from member_tokens
join agent_clients c on c.tenant_id = member_tokens.tenant_id and c.id = member_tokens.agent_client_id
join memberships on memberships.tenant_id = c.tenant_id and memberships.user_id = c.user_id
join tenants on tenants.id = c.tenant_id
join users on users.id = c.user_id
left join sso_settings sso on sso.tenant_id = c.tenant_id
left join second_factors f on f.user_id = c.user_id
where member_tokens.id = @id;

-- name: TouchMemberToken :exec
-- At most one write a minute, as in TouchAPIKey.
-- @sqlc-vet-disable tenant-scope
update member_tokens
set last_used_at = now()
where id = @id and (last_used_at is null or last_used_at < now() - interval '1 minute');

-- name: DeleteEndedClientTokens :execrows
-- @sqlc-vet-disable tenant-scope
delete from agent_tokens
where (agent_client_id is not null or agent_workload_id is not null) and expires_at < now() - interval '10 minutes';
