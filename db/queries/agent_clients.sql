-- OAuth clients that act as an agent or as a member.

-- name: CreateAgentClient :exec
insert into agent_clients (
    tenant_id, id, agent_id, user_id, client_id, client_name, client_host, resource, scope, by_sso, redirect_uri, code_mac, challenge, code_expires_at,
    salt, expires_at, key_thumbprint, dpop_required)
select
    @tenant_id, @id, sqlc.narg(agent_id), @user_id, @client_id, @client_name, @client_host, @resource, sqlc.narg(scope), @by_sso, @redirect_uri, @code_mac,
    @challenge, code.ends, @salt, code.ends, sqlc.narg(key_thumbprint), @dpop_required
from (select clock_timestamp() + make_interval(secs => @code_seconds::double precision) as ends) code;

-- name: AgentClients :many
-- Clients that have tokens. The filters narrow the list to an agent, a user or the clients that act as members. A
-- client that acts as a member is invalid after the member's last sign-out.
select c.id, c.agent_id, coalesce(agents.slug, '') as agent_slug, coalesce(agents.name, '') as agent_name, c.user_id, users.address as email, users.name as user_name,
       c.client_id, c.client_name, c.client_host, c.resource, coalesce(c.scope, '') as scope, c.redirect_uri, c.created_at, c.expires_at,
       greatest(
           c.rotated_at,
           (select max(t.last_used_at) from agent_tokens t where t.tenant_id = c.tenant_id and t.agent_client_id = c.id),
           (select max(t.last_used_at) from member_tokens t where t.tenant_id = c.tenant_id and t.agent_client_id = c.id))::timestamptz as used_at
from agent_clients c
join users on users.id = c.user_id
join memberships on memberships.tenant_id = c.tenant_id and memberships.user_id = c.user_id
left join agents on agents.tenant_id = c.tenant_id and agents.id = c.agent_id
where c.tenant_id = @tenant_id
  and c.generation > 0
  and c.expires_at > now()
  and (c.agent_id is not null or c.created_at > coalesce(greatest(users.signed_out_at, memberships.signed_out_at), 'epoch'))
  and (not @as_members::boolean or c.agent_id is null)
  and (sqlc.narg(agent_id)::uuid is null or c.agent_id = sqlc.narg(agent_id))
  and (sqlc.narg(user_id)::uuid is null or c.user_id = sqlc.narg(user_id))
  and (sqlc.narg(before_id)::uuid is null or c.id < sqlc.narg(before_id))
order by c.id desc
limit @max_rows;

-- name: LockAgentClient :one
-- Concurrent exchanges of a code or a refresh token wait for the row lock. The time is the database's: another process
-- may have issued the code.
select c.*, clock_timestamp()::timestamptz as now
from agent_clients c
where c.tenant_id = @tenant_id and c.id = @id
for update;

-- name: ConsumeCode :execrows
update agent_clients
set code_used_at = @at::timestamptz
where tenant_id = @tenant_id and id = @id and code_used_at is null;

-- name: RotateAgentClient :execrows
update agent_clients
set generation = generation + 1, rotated_at = @at::timestamptz, expires_at = @expires_at
where tenant_id = @tenant_id and id = @id and generation = @generation;

-- name: BindAgentClient :execrows
-- 0 rows: it is bound to another key.
update agent_clients
set key_thumbprint = @key_thumbprint::text
where tenant_id = @tenant_id and id = @id and coalesce(key_thumbprint, @key_thumbprint::text) = @key_thumbprint::text;

-- name: CreateClientToken :exec
insert into agent_tokens (tenant_id, id, agent_id, name, prefix, secret_mac, expires_at, agent_client_id, resource, key_thumbprint)
select @tenant_id, @id::uuid, c.agent_id, c.client_name, @prefix::text, @secret_mac::bytea, @expires_at::timestamptz, c.id, c.resource, sqlc.narg(key_thumbprint)
from agent_clients c
where c.tenant_id = @tenant_id and c.id = @agent_client_id::uuid;

-- name: DeleteOldClientTokens :many
-- The newest @keep access tokens of a client stay. Rows are ordered by the database's clock because an id has the clock
-- of its process.
delete from agent_tokens
where agent_tokens.tenant_id = @tenant_id
  and agent_tokens.agent_client_id = @agent_client_id::uuid
  and agent_tokens.id not in (
      select newest.id
      from agent_tokens newest
      where newest.tenant_id = @tenant_id and newest.agent_client_id = @agent_client_id::uuid
      order by newest.created_at desc, newest.id desc
      limit @keep)
returning agent_tokens.id;

-- name: CreateMemberToken :exec
insert into member_tokens (tenant_id, id, agent_client_id, secret_mac, expires_at, key_thumbprint)
values (@tenant_id, @id, @agent_client_id, @secret_mac, @expires_at, sqlc.narg(key_thumbprint));

-- name: DeleteOldMemberTokens :exec
-- The newest @keep access tokens of a client stay.
delete from member_tokens
where member_tokens.tenant_id = @tenant_id
  and member_tokens.agent_client_id = @agent_client_id
  and member_tokens.id not in (
      select newest.id
      from member_tokens newest
      where newest.tenant_id = @tenant_id and newest.agent_client_id = @agent_client_id
      order by newest.created_at desc, newest.id desc
      limit @keep);

-- name: DeleteMemberToken :execrows
delete from member_tokens
where tenant_id = @tenant_id and id = @id;

-- name: DeleteSSOClients :exec
-- Clients that act as members and were authorized by single sign-on. user_id null: of all members.
delete from agent_clients
where tenant_id = @tenant_id
  and agent_id is null
  and by_sso
  and (sqlc.narg(user_id)::uuid is null or user_id = sqlc.narg(user_id));

-- name: ClientOwner :one
-- The current role and sign-in state of the member that authorized the client.
select memberships.role,
       coalesce(greatest(users.signed_out_at, memberships.signed_out_at), 'epoch')::timestamptz as signed_out_at,
       coalesce(sso.enabled, false)::boolean as sso,
       (memberships.sso_only or coalesce(sso.enforced and sso.break_glass <> memberships.user_id, false))::boolean as sso_only,
       coalesce((
           select max(i.signed_in_at)
           from sso_identities i
           where i.tenant_id = memberships.tenant_id and i.user_id = memberships.user_id), 'epoch')::timestamptz as sso_signed_in_at
from memberships
join users on users.id = memberships.user_id
left join sso_settings sso on sso.tenant_id = memberships.tenant_id
where memberships.tenant_id = @tenant_id and memberships.user_id = @user_id;

-- name: ConsumeConfirmation :execrows
insert into spent_confirmations (tenant_id, id, until)
values (@tenant_id, @id, @until)
on conflict do nothing;

-- name: DeleteClientToken :execrows
delete from agent_tokens
where tenant_id = @tenant_id and id = @id and agent_client_id is not null;

-- name: DeleteAgentClient :execrows
delete from agent_clients
where tenant_id = @tenant_id and id = @id;

-- name: PersonalAgents :many
select agents.*
from personal_agents p
join agents on agents.tenant_id = p.tenant_id and agents.id = p.agent_id
where p.tenant_id = @tenant_id and p.user_id = @user_id
order by lower(agents.name), agents.id
limit 100;

-- name: IsPersonalAgent :one
select exists (
    select from personal_agents
    where tenant_id = @tenant_id and user_id = @user_id and agent_id = @agent_id);

-- name: AddPersonalAgent :exec
insert into personal_agents (tenant_id, agent_id, user_id)
values (@tenant_id, @agent_id, @user_id);

-- name: AgentOfClient :one
-- The agent as which a client acts that signs the user in by identity assertions.
select agents.*
from personal_agents p
join agents on agents.tenant_id = p.tenant_id and agents.id = p.agent_id
where p.tenant_id = @tenant_id and p.user_id = @user_id and md5(p.client_id) = md5(@client_id::text) and p.client_id = @client_id::text;

-- name: SetAgentOfClient :execrows
update personal_agents
set client_id = @client_id::text
where tenant_id = @tenant_id and user_id = @user_id and agent_id = @agent_id;

-- name: IsAgentOfClients :one
-- Reports whether the agent is a personal agent of the user, or a client that the user authorized acts as it.
select (exists (
    select from personal_agents
    where personal_agents.tenant_id = @tenant_id and personal_agents.user_id = @user_id and personal_agents.agent_id = @agent_id
) or exists (
    select from agent_clients
    where agent_clients.tenant_id = @tenant_id and agent_clients.user_id = @user_id and agent_clients.agent_id = @agent_id::uuid
))::boolean;
