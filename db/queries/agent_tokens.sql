-- name: AgentTokens :many
-- Only tokens created by hand. Tokens of an OAuth client or a workload end with it.
select id, agent_id, name, prefix, created_at, expires_at, last_used_at
from agent_tokens
where tenant_id = @tenant_id and agent_id = @agent_id and agent_client_id is null and agent_workload_id is null
  and (sqlc.narg(before_id)::uuid is null or id < sqlc.narg(before_id))
order by id desc
limit @max_rows;

-- name: CreateAgentToken :one
insert into agent_tokens (tenant_id, id, agent_id, name, prefix, secret_mac, expires_at)
values (@tenant_id, @id, @agent_id, @name, @prefix, @secret_mac, @expires_at)
returning id, agent_id, name, prefix, created_at, expires_at, last_used_at;

-- name: DeleteAgentToken :one
delete from agent_tokens
where tenant_id = @tenant_id and agent_id = @agent_id and id = @id and agent_client_id is null and agent_workload_id is null
returning id, agent_id, name, prefix, created_at, expires_at, last_used_at;
