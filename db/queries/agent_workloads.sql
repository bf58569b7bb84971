-- Workloads that get an agent's tokens for a JWT.

-- name: CreateWorkload :one
insert into agent_workloads (tenant_id, id, agent_id, name, issuer, subject, keys)
values (@tenant_id, @id, @agent_id, @name, @issuer, @subject, sqlc.narg(keys))
returning *;

-- name: Workloads :many
select *
from agent_workloads
where tenant_id = @tenant_id and agent_id = @agent_id
order by id desc;

-- name: CountWorkloads :one
select count(*)
from agent_workloads
where tenant_id = @tenant_id and agent_id = @agent_id;

-- name: DeleteWorkload :one
delete from agent_workloads
where tenant_id = @tenant_id and agent_id = @agent_id and id = @id
returning *;

-- name: LockWorkload :one
-- Concurrent exchanges wait for the row lock. The time is the database's: another process may have recorded a use.
select clock_timestamp()::timestamptz as now, agents.slug
from agent_workloads w
join agents on agents.tenant_id = w.tenant_id and agents.id = w.agent_id
where w.tenant_id = @tenant_id and w.id = @id
for update of w;

-- name: TouchWorkload :exec
update agent_workloads
set last_used_at = clock_timestamp()
where tenant_id = @tenant_id and id = @id;

-- name: UseAssertion :execrows
-- 0 rows: the assertion was used before. A concurrent use is waited for.
insert into used_assertions (tenant_id, digest, assertion_hash, workload_id, token_id, used_at, expires_at)
values (@tenant_id, @digest, @assertion_hash, @workload_id, @token_id, @used_at, @expires_at)
on conflict do nothing;

-- name: UsedAssertion :one
select *
from used_assertions
where tenant_id = @tenant_id and digest = @digest
for update;

-- name: ReplaceAssertionToken :execrows
update used_assertions
set token_id = @token_id
where tenant_id = @tenant_id and digest = @digest;

-- name: RefuseAssertion :execrows
-- 0 rows: it was refused before.
update used_assertions
set refused_at = clock_timestamp()
where tenant_id = @tenant_id and digest = @digest and refused_at is null;

-- name: UseProof :execrows
-- 0 rows: the proof was used before. A concurrent use is waited for.
insert into used_proofs (tenant_id, digest, expires_at)
values (@tenant_id, @digest, @expires_at)
on conflict do nothing;

-- name: CreateWorkloadToken :execrows
insert into agent_tokens (tenant_id, id, agent_id, name, prefix, secret_mac, expires_at, agent_workload_id, resource, key_thumbprint)
select @tenant_id, @id::uuid, w.agent_id, w.name, @prefix::text, @secret_mac::bytea, @expires_at::timestamptz, w.id, @resource::text, sqlc.narg(key_thumbprint)
from agent_workloads w
where w.tenant_id = @tenant_id and w.id = @agent_workload_id::uuid;

-- name: DeleteOldWorkloadTokens :many
-- The newest @keep access tokens of a workload stay.
delete from agent_tokens
where agent_tokens.tenant_id = @tenant_id
  and agent_tokens.agent_workload_id = @agent_workload_id::uuid
  and agent_tokens.id in (
      select old.id
      from agent_tokens old
      where old.tenant_id = @tenant_id and old.agent_workload_id = @agent_workload_id::uuid
      order by old.created_at desc, old.id desc
      offset @keep)
returning agent_tokens.id;

-- name: DeleteWorkloadToken :execrows
delete from agent_tokens
where tenant_id = @tenant_id and id = @id and agent_workload_id = @agent_workload_id::uuid;
