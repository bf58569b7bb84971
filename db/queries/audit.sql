-- What happened, by whom.

-- name: AuditEvents :many
-- The newest first. Ids grow with time, so that from_id bounds how far back is read; at says it exactly.
select id, at, actor_type, actor_id, actor_name, action, target, detail, request_id, ip, audit_chain.hash
from audit_events
left join audit_chain on audit_chain.tenant_id = @tenant_id and audit_chain.event_id = audit_events.id
where audit_events.tenant_id = @tenant_id
  and (sqlc.narg(entry)::uuid is null or id = sqlc.narg(entry))
  and (sqlc.narg(before_id)::uuid is null or id < sqlc.narg(before_id))
  and (sqlc.narg(from_id)::uuid is null or id >= sqlc.narg(from_id))
  and (sqlc.narg(since)::timestamptz is null or at >= sqlc.narg(since))
  and (sqlc.narg(until)::timestamptz is null or at < sqlc.narg(until))
  and (@actor::text = '' or actor_name ilike @actor)
  and (@target::text = '' or audit_events.target ilike @target)
  and (@action::text = '' or action = @action or starts_with(action, @action || '.'))
order by id desc
limit @max_rows;

-- name: AuditHead :one
-- Where the chain ends, and what its last check found. No row: nothing was ever recorded.
select events, hash, checked_at, checked_events, checked_bad, checked_reason, checked_event, checked_last
from audit_heads
where tenant_id = @tenant_id;

-- name: AuditLinks :many
-- The chain in its order, with the entries; a link without one has null for its columns.
select audit_chain.n, audit_chain.event_id, audit_chain.hash, (audit_events.id is not null)::boolean as present,
       audit_events.at, audit_events.actor_type, audit_events.actor_id, audit_events.actor_name, audit_events.action,
       audit_events.target, coalesce(audit_events.detail::text, '')::text as detail, audit_events.request_id, audit_events.ip
from audit_chain
left join audit_events on audit_events.tenant_id = @tenant_id and audit_events.id = audit_chain.event_id
where audit_chain.tenant_id = @tenant_id and audit_chain.n > @after and audit_chain.n <= @until
order by audit_chain.n
limit @max_rows;

-- name: CountUnlinkedEvents :one
-- Entries that no link names: they were put in around the trigger.
select count(*)
from audit_events
where audit_events.tenant_id = @tenant_id
  and not exists (select from audit_chain where audit_chain.tenant_id = @tenant_id and audit_chain.event_id = audit_events.id);

-- name: SetAuditChecked :exec
update audit_heads
set checked_at = now(), checked_events = @events, checked_bad = sqlc.narg(bad), checked_reason = sqlc.narg(reason),
    checked_event = sqlc.narg(event), checked_last = sqlc.narg(last)
where tenant_id = @tenant_id;

-- name: AuditFirst :one
-- The first link that is there; 0: there is none.
select coalesce(min(n), 0)::bigint as n
from audit_chain
where tenant_id = @tenant_id;

-- name: AuditCuts :many
-- What says that the entries up to this one were cut off, the newest first. It stands among those that were recorded after them.
select detail
from audit_events
where audit_events.tenant_id = @tenant_id and action = 'audit.cut' and detail ->> 'entries' = @entries::text
order by id desc
limit 10;

-- name: AuditOld :one
-- How many entries at the chain's beginning are all of before that time; -1: all that there are.
select coalesce(min(audit_chain.n) - 1, -1)::bigint as entries
from audit_chain
join audit_events on audit_events.tenant_id = @tenant_id and audit_events.id = audit_chain.event_id
where audit_chain.tenant_id = @tenant_id and audit_events.at >= @before;

-- name: AuditLinkHash :one
select hash
from audit_chain
where tenant_id = @tenant_id and n = @n;
