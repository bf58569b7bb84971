-- The audit log and its hash chain.

-- name: AuditEvents :many
-- Newest first. Ids grow with time: from_id bounds the index range, since and until filter exactly.
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

-- name: SlugNames :many
-- The names of agents and connectors with one of the slugs.
select 'agent'::text as kind, agents.slug, agents.name from agents where agents.tenant_id = @tenant_id and agents.slug = any(@slugs::text[])
union all
select 'connector'::text as kind, connectors.slug, connectors.name from connectors where connectors.tenant_id = @tenant_id and connectors.slug = any(@slugs::text[]);

-- name: AuditHead :one
-- The end of the chain and the result of its last check. No row: the log is empty.
select events, hash, checked_at, checked_events, checked_bad, checked_reason, checked_event, checked_last
from audit_heads
where tenant_id = @tenant_id;

-- name: AuditLinks :many
-- Links in chain order. The event's columns are null if the event is missing.
select audit_chain.n, audit_chain.event_id, audit_chain.hash, (audit_events.id is not null)::boolean as present,
       audit_events.at, audit_events.actor_type, audit_events.actor_id, audit_events.actor_name, audit_events.action,
       audit_events.target, coalesce(audit_events.detail::text, '')::text as detail, audit_events.request_id, audit_events.ip
from audit_chain
left join audit_events on audit_events.tenant_id = @tenant_id and audit_events.id = audit_chain.event_id
where audit_chain.tenant_id = @tenant_id and audit_chain.n > @after and audit_chain.n <= @until
order by audit_chain.n
limit @max_rows;

-- name: CountUnlinkedEvents :one
-- Events without a link were inserted without the trigger.
select count(*)
from audit_events
where audit_events.tenant_id = @tenant_id
  and not exists (select from audit_chain where audit_chain.tenant_id = @tenant_id and audit_chain.event_id = audit_events.id);

-- name: SetAuditChecked :exec
update audit_heads
set checked_at = now(), checked_events = @events, checked_bad = sqlc.narg(bad), checked_reason = sqlc.narg(reason),
    checked_event = sqlc.narg(event), checked_last = sqlc.narg(last)
where tenant_id = @tenant_id;

-- name: FirstAuditLink :one
-- 0: the chain is empty.
select coalesce(min(n), 0)::bigint as n
from audit_chain
where tenant_id = @tenant_id;

-- name: AuditCuts :many
-- Events that record a deletion of the entries up to @entries, newest first.
select detail
from audit_events
where audit_events.tenant_id = @tenant_id and action = 'audit.cut' and detail ->> 'entries' = @entries::text
order by id desc
limit 10;

-- name: CountAuditEntriesBefore :one
-- The number of leading entries older than @before. -1: all entries are older.
select coalesce(min(audit_chain.n) - 1, -1)::bigint as entries
from audit_chain
join audit_events on audit_events.tenant_id = @tenant_id and audit_events.id = audit_chain.event_id
where audit_chain.tenant_id = @tenant_id and audit_events.at >= @before;

-- name: AuditLinkHash :one
select hash
from audit_chain
where tenant_id = @tenant_id and n = @n;
