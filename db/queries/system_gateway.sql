-- Expiry of gateway rows, across tenants.

-- name: ExpireApprovals :many
-- The call ends with its approval. An approved use of a prompt or a resource runs when the agent asks for it again. Rows locked by a concurrent decision are skipped.
-- @sqlc-vet-disable tenant-scope
with due as materialized (
    select approvals.tenant_id, approvals.id
    from approvals
    where (approvals.state = 'waiting' or approvals.state = 'approved' and approvals.kind <> 'tool') and approvals.expires_at < now()
    limit @max_rows
    for update skip locked
), lapsed as (
    update approvals
    set state = 'lapsed',
        decided_at = null
    from due
    where approvals.tenant_id = due.tenant_id and approvals.id = due.id
    returning approvals.tenant_id, approvals.id
), ended as (
    update tool_calls
    set status = 'error',
        outcome = 'refused',
        error_code = 'approval_lapsed',
        error_message = 'This call wasn''t decided in time.',
        completed_at = now(),
        duration_us = greatest(0, (extract(epoch from now() - started_at) * 1000000)::bigint)
    from lapsed
    where tool_calls.tenant_id = lapsed.tenant_id and tool_calls.id = lapsed.id and tool_calls.completed_at is null
    returning tool_calls.tenant_id, tool_calls.id, tool_calls.completed_at, tool_calls.status
), counted as (
    select count_calls(array_agg(ended.tenant_id), array_agg(ended.completed_at), array_agg(ended.status), null::bigint[])
    from ended
)
select ended.tenant_id, ended.id
from ended
where exists (select from counted);

-- name: MarkApprovalsUnknown :exec
-- The process died during the call: its effect is unknown, and the call is not repeated.
-- @sqlc-vet-disable tenant-scope
update approvals
set state = 'unknown'
where state = 'executing'
  and not exists (
      select from instances
      where instances.id = approvals.instance_id and instances.beat_at >= now() - interval '6 seconds');

-- name: DeleteOldApprovals :exec
-- @sqlc-vet-disable tenant-scope
delete from approvals
where state in ('denied', 'lapsed', 'done', 'unknown') and asked_at < now() - interval '7 days';

-- name: DeleteFetchedResults :exec
-- A fetched result stays for an hour, for a client that did not receive it.
-- @sqlc-vet-disable tenant-scope
delete from approval_results
using approvals
where approvals.tenant_id = approval_results.tenant_id and approvals.id = approval_results.id
  and approvals.fetched_at < now() - interval '1 hour';

-- name: UnclaimedApprovals :many
-- Approved calls of tools that no process has claimed within @seconds.
-- @sqlc-vet-disable tenant-scope
select tenant_id, id
from approvals
where state = 'approved' and kind = 'tool' and decided_at < now() - make_interval(secs => @seconds::double precision)
order by decided_at
limit @max_rows;

-- name: DeleteSpentAllowances :exec
-- @sqlc-vet-disable tenant-scope
delete from tool_allowances
where until < now();

-- name: DeleteForgottenTerms :exec
-- The heaviest weight halves eight times in this time.
-- @sqlc-vet-disable tenant-scope
delete from search_terms
where learned_at < now() - interval '240 days';

-- name: ListNonemptyMailboxes :many
-- @sqlc-vet-disable tenant-scope
select distinct box
from gateway_mail
where box = any(@boxes::text[]) and expires_at > now()
order by box;

-- name: DeleteExpiredMail :exec
-- @sqlc-vet-disable tenant-scope
delete from gateway_mail
where expires_at < now();

-- name: RollSyncHours :exec
-- Adds past hours of connectors to those of their tenants. The sums are locked in key order, by the last statement of a
-- transaction.
-- @sqlc-vet-disable tenant-scope
with rolled as (
    update connector_health
    set rolled = true
    from (
        select past.tenant_id, past.connector_id, past.hour
        from connector_health past
        where not past.rolled
        order by past.tenant_id, past.hour
        limit 5000
        for update skip locked
    ) fresh
    where connector_health.tenant_id = fresh.tenant_id and connector_health.connector_id = fresh.connector_id and connector_health.hour = fresh.hour
    returning connector_health.tenant_id, connector_health.hour, connector_health.ok, connector_health.failed
)
insert into sync_hours (tenant_id, hour, ok, failed, tools)
select rolled.tenant_id, rolled.hour, sum(rolled.ok), sum(rolled.failed),
       (select sum(connectors.tool_count) from connectors where connectors.tenant_id = rolled.tenant_id)
from rolled
group by rolled.tenant_id, rolled.hour
order by rolled.tenant_id, rolled.hour
on conflict on constraint sync_hours_pkey do update
set ok = sync_hours.ok + excluded.ok,
    failed = sync_hours.failed + excluded.failed,
    tools = case when sync_hours.hour >= now() - interval '2 hours' then excluded.tools else coalesce(sync_hours.tools, excluded.tools) end;

-- name: DeleteOldCallHours :exec
-- @sqlc-vet-disable tenant-scope
delete from call_hours
where hour < now() - interval '90 days';

-- name: DeleteOldSyncHours :exec
-- @sqlc-vet-disable tenant-scope
delete from sync_hours
where hour < now() - interval '90 days';

-- name: NotifyQuotaUses :exec
select pg_notify('patchbay_changes', 'uses ' || @tenant::text || ' ' || @words::text);
