-- What of the gateway's rows ends by itself, across tenants.

-- name: LapseApprovals :exec
-- The history of a call that nobody decided ends with it.
-- @sqlc-vet-disable tenant-scope
with lapsed as (
    update approvals
    set state = 'lapsed'
    where state = 'waiting' and expires_at < now()
    returning tenant_id, id
)
update tool_calls
set status = 'error',
    outcome = 'refused',
    error_code = 'approval_lapsed',
    error_message = 'Nobody decided about this call in time.',
    completed_at = now(),
    duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
from lapsed
where tool_calls.tenant_id = lapsed.tenant_id and tool_calls.id = lapsed.id and tool_calls.completed_at is null;

-- name: LoseApprovalsOfSilentInstances :exec
-- The process died while it executed the call: nobody knows what the server did, and nobody does it again.
-- @sqlc-vet-disable tenant-scope
update approvals
set state = 'unknown'
where state = 'executing'
  and not exists (
      select from instances
      where instances.id = approvals.instance_id and instances.beat_at >= now() - interval '6 seconds');

-- name: DropOldApprovals :exec
-- @sqlc-vet-disable tenant-scope
delete from approvals
where state in ('denied', 'lapsed', 'done', 'unknown') and asked_at < now() - interval '7 days';

-- name: DropFetchedResults :exec
-- A client that did not get the result may ask again, for a while.
-- @sqlc-vet-disable tenant-scope
delete from approval_results
using approvals
where approvals.tenant_id = approval_results.tenant_id and approvals.id = approval_results.id
  and approvals.fetched_at < now() - interval '1 hour';

-- name: LeftApprovals :many
-- Approved calls whose process did not take them up.
-- @sqlc-vet-disable tenant-scope
select tenant_id, id
from approvals
where state = 'approved' and decided_at < now() - make_interval(secs => @seconds::double precision)
order by decided_at
limit @max_rows;

-- name: DropSpentAllowances :exec
-- @sqlc-vet-disable tenant-scope
delete from tool_allowances
where until < now();

-- name: DropExpiredMail :exec
-- @sqlc-vet-disable tenant-scope
delete from gateway_mail
where expires_at < now();
