-- Calls that need approval, their decisions and results, and temporary allowances.

-- name: InsertApproval :one
-- No row: the same call is open already.
insert into approvals (tenant_id, id, agent_id, connector_id, kind, tool, exposed_name, definition_hash, call_hash, sealed, expires_at, caller_id, account_id, sealed_account_id)
values (@tenant_id, @id, @agent_id, @connector_id, coalesce(nullif(@kind::text, ''), 'tool'), @tool, @exposed_name, @definition_hash, @call_hash, @sealed, @expires_at, @caller_id, @account_id, @sealed_account_id)
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

-- name: CloseApprovalOfOther :one
-- Closes the open approval of the same call with another account, unless the call runs. No row: it does.
update approvals
set state = case when state = 'done' then state else 'lapsed' end,
    fetched_at = case when state = 'done' then now() end
where tenant_id = @tenant_id and call_hash = @call_hash
  and coalesce(sealed_account_id, account_id) is not null and coalesce(sealed_account_id, account_id) is distinct from sqlc.narg(account_id)
  and (state in ('waiting', 'approved') or (state = 'done' and fetched_at is null))
returning id, state;

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

-- name: AddAllowance :execrows
-- No row: the agent's grant does not cover what is allowed, or not with the account that the person saw; null: none. The lock makes a change of the grant wait, which then ends the
-- allowance. For the same definition the later expiry stays. Another definition replaces the row.
insert into tool_allowances (tenant_id, agent_id, connector_id, kind, tool, account, definition_hash, until, granted_by)
select g.tenant_id, g.agent_id, g.connector_id, @kind::text, @tool,
       case when cardinality(g.accounts) > 1
            then (select c.name from credentials c where c.tenant_id = @tenant_id and c.id = sqlc.narg(account_id)::uuid) else '' end,
       sqlc.narg(definition_hash), @until, @granted_by
from agent_grants g
where g.tenant_id = @tenant_id and g.agent_id = @agent_id and g.connector_id = @connector_id
  and case @kind::text
      when 'tool' then (g.all_tools or @tool = any(g.tools)) and (g.until is null or g.until > now())
          or g.tool_ends ? @tool and coalesce((g.tool_ends ->> @tool)::timestamptz > now(), true)
      when 'prompt' then g.prompts = 'listed' and (g.until is null or g.until > now())
      else (g.until is null or g.until > now()) and (g.resources = 'listed_and_templates' or g.resources = 'listed' and exists (
          select from connector_items i
          where i.tenant_id = @tenant_id and i.connector_id = g.connector_id and i.kind = 'resource' and i.key = @tool))
      end
  and case when sqlc.narg(account_id)::uuid is null then g.accounts = '{}'
           else exists (select from credentials c
                        where c.tenant_id = @tenant_id and c.id = sqlc.narg(account_id) and c.connector_id = g.connector_id
                          and (g.accounts = '{}' or c.name = any(g.accounts))) end
for share of g
on conflict on constraint tool_allowances_pkey do update
set until = case when tool_allowances.definition_hash is not distinct from excluded.definition_hash
                 then greatest(tool_allowances.until, excluded.until) else excluded.until end,
    definition_hash = excluded.definition_hash,
    granted_by = excluded.granted_by;

-- name: AgentAllowances :many
-- In force: agents are served the tool's definition that the person saw, or the server lists the prompt.
select sqlc.embed(tool_allowances), connectors.slug, connectors.name,
       coalesce(case tool_allowances.kind
           when 'tool' then tools.accepted_hash = tool_allowances.definition_hash and tools.removed_at is null
           when 'prompt' then exists (
               select from connector_items i
               where i.tenant_id = @tenant_id and i.connector_id = tool_allowances.connector_id and i.kind = 'prompt' and i.key = tool_allowances.tool)
           else true
       end, false)::boolean as in_force
from tool_allowances
join connectors on connectors.tenant_id = tool_allowances.tenant_id and connectors.id = tool_allowances.connector_id
left join tools on tools.tenant_id = tool_allowances.tenant_id and tools.connector_id = tool_allowances.connector_id and tools.name = tool_allowances.tool
where tool_allowances.tenant_id = @tenant_id and tool_allowances.agent_id = @agent_id
  and tool_allowances.until > now() and (tool_allowances.definition_hash is not null or tool_allowances.kind <> 'tool')
  and (sqlc.narg(after_slug)::text is null
    or (connectors.slug, tool_allowances.tool, tool_allowances.kind, tool_allowances.account)
       > (sqlc.narg(after_slug), sqlc.narg(after_tool)::text, sqlc.narg(after_kind)::text, @after_account::text))
order by connectors.slug, tool_allowances.tool, tool_allowances.kind, tool_allowances.account
limit @max_rows;

-- name: DeleteAllowances :many
-- account empty: of all accounts.
delete from tool_allowances
where tenant_id = @tenant_id and agent_id = @agent_id and connector_id = @connector_id and kind = @kind and tool = @tool and until > now()
  and @account::text in ('', account)
returning *;

-- name: DeleteConnectorAllowances :execrows
delete from tool_allowances
where tenant_id = @tenant_id and connector_id = @connector_id;
