-- Calls that need approval, their decisions and results, and temporary allowances.

-- name: InsertApproval :one
-- No row: the same call is open already.
insert into approvals (tenant_id, id, agent_id, connector_id, tool, exposed_name, definition_hash, call_hash, sealed, expires_at)
values (@tenant_id, @id, @agent_id, @connector_id, @tool, @exposed_name, @definition_hash, @call_hash, @sealed, @expires_at)
on conflict (tenant_id, call_hash) where state in ('waiting', 'approved', 'executing') or (state = 'done' and fetched_at is null)
do nothing
returning *;

-- name: OpenApprovalOfCall :one
select approvals.*
from approvals
where tenant_id = @tenant_id and call_hash = @call_hash
  and (state in ('waiting', 'approved', 'executing') or (state = 'done' and fetched_at is null));

-- name: DeniedApprovalOfCall :one
select approvals.*
from approvals
where tenant_id = @tenant_id and agent_id = @agent_id and call_hash = @call_hash and state = 'denied' and decided_at > @since
order by id desc
limit 1;

-- name: Approval :one
select approvals.*
from approvals
where tenant_id = @tenant_id and id = @id;

-- name: WaitingApprovals :many
select approvals.*
from approvals
where tenant_id = @tenant_id and state = 'waiting' and expires_at > now()
  and (sqlc.narg(after_id)::uuid is null or id < sqlc.narg(after_id))
order by id desc
limit @max_rows;

-- name: CountOpenApprovals :one
-- Open means waiting, approved or executing.
select count(*)
from approvals
where tenant_id = @tenant_id and agent_id = @agent_id and state in ('waiting', 'approved', 'executing');

-- name: DecideApproval :one
update approvals
set state = case when @approved::boolean then 'approved' else 'denied' end,
    decided_at = now(),
    decided_by = @decided_by,
    reason = @reason
where tenant_id = @tenant_id and id = @id and state = 'waiting' and expires_at > now()
returning *;

-- name: WithdrawApproval :execrows
update approvals
set state = 'lapsed'
where tenant_id = @tenant_id and id = @id and state = 'waiting';

-- name: ClaimApproval :execrows
-- The state check lets one process execute an approved call, once.
update approvals
set state = 'executing',
    instance_id = @instance_id
where tenant_id = @tenant_id and id = @id and state = 'approved';

-- name: FinishApproval :execrows
-- State unknown is accepted: a process that was presumed dead may still report the result.
update approvals
set state = 'done'
where tenant_id = @tenant_id and id = @id and state in ('executing', 'unknown') and instance_id = @instance_id;

-- name: SaveApprovalResult :exec
insert into approval_results (tenant_id, id, sealed)
values (@tenant_id, @id, @sealed);

-- name: FetchApproval :execrows
-- A result is delivered once.
update approvals
set fetched_at = now()
where tenant_id = @tenant_id and id = @id and state = 'done' and fetched_at is null;

-- name: ApprovalResult :one
select sealed
from approval_results
where tenant_id = @tenant_id and id = @id;

-- name: AllowTool :exec
-- For the same definition the later expiry stays. Another definition replaces the row.
insert into tool_allowances (tenant_id, agent_id, connector_id, tool, definition_hash, until, granted_by)
values (@tenant_id, @agent_id, @connector_id, @tool, @definition_hash, @until, @granted_by)
on conflict on constraint tool_allowances_pkey do update
set until = case when tool_allowances.definition_hash = excluded.definition_hash
                 then greatest(tool_allowances.until, excluded.until) else excluded.until end,
    definition_hash = excluded.definition_hash,
    granted_by = excluded.granted_by;

-- name: DeleteAllowance :execrows
delete from tool_allowances
where tenant_id = @tenant_id and agent_id = @agent_id and connector_id = @connector_id and tool = @tool;
