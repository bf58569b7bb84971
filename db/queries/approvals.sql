-- Calls that wait for a person, what came of them, and what may be called for a while without asking.

-- name: InsertApproval :one
-- Without a row the same call is there already.
insert into approvals (tenant_id, id, agent_id, connector_id, tool, exposed_name, definition_hash, call_hash, sealed, expires_at)
values (@tenant_id, @id, @agent_id, @connector_id, @tool, @exposed_name, @definition_hash, @call_hash, @sealed, @expires_at)
on conflict (tenant_id, call_hash) where state in ('waiting', 'approved', 'executing') or (state = 'done' and fetched_at is null)
do nothing
returning *;

-- name: SameCall :one
select approvals.*
from approvals
where tenant_id = @tenant_id and call_hash = @call_hash
  and (state in ('waiting', 'approved', 'executing') or (state = 'done' and fetched_at is null));

-- name: DeniedCall :one
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
-- One agent's, those that were agreed to and not made yet among them.
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
-- Nobody is asked any more.
update approvals
set state = 'lapsed'
where tenant_id = @tenant_id and id = @id and state = 'waiting';

-- name: ClaimApproval :execrows
-- One process executes an approved call, and that once.
update approvals
set state = 'executing',
    instance_id = @instance_id
where tenant_id = @tenant_id and id = @id and state = 'approved';

-- name: FinishApproval :execrows
-- A process that was believed dead, and was not, may still say how the call ended.
update approvals
set state = 'done'
where tenant_id = @tenant_id and id = @id and state in ('executing', 'unknown') and instance_id = @instance_id;

-- name: SaveApprovalResult :exec
insert into approval_results (tenant_id, id, sealed)
values (@tenant_id, @id, @sealed);

-- name: FetchApproval :execrows
-- A result is handed out once.
update approvals
set fetched_at = now()
where tenant_id = @tenant_id and id = @id and state = 'done' and fetched_at is null;

-- name: ApprovalResult :one
select sealed
from approval_results
where tenant_id = @tenant_id and id = @id;

-- name: AllowTool :exec
-- Of two for one definition the longer counts, else the newer.
insert into tool_allowances (tenant_id, agent_id, connector_id, tool, definition_hash, until, granted_by)
values (@tenant_id, @agent_id, @connector_id, @tool, @definition_hash, @until, @granted_by)
on conflict on constraint tool_allowances_pkey do update
set until = case when tool_allowances.definition_hash = excluded.definition_hash
                 then greatest(tool_allowances.until, excluded.until) else excluded.until end,
    definition_hash = excluded.definition_hash,
    granted_by = excluded.granted_by;

-- name: DropAllowance :execrows
delete from tool_allowances
where tenant_id = @tenant_id and agent_id = @agent_id and connector_id = @connector_id and tool = @tool;
