-- Streams of audit entries and call outcomes, across tenants.

-- name: ClaimAuditStreams :many
-- Leases streams with undelivered records, those that waited longest first.
-- @sqlc-vet-disable tenant-scope
with due as materialized (
    select s.tenant_id, s.id
    from audit_streams s
    join call_outcome_heads c on c.tenant_id = s.tenant_id
    left join audit_heads a on a.tenant_id = s.tenant_id
    where s.enabled and s.next_at <= now() and (s.leased_until is null or s.leased_until < now())
      and (a.events > s.audit_n or c.places > s.calls_n)
    order by s.next_at, s.tenant_id, s.id
    limit @max_rows
    for update of s skip locked
)
update audit_streams
set lease = gen_random_uuid(),
    leased_until = now() + make_interval(secs => @seconds::double precision),
    next_at = now()
from due
where audit_streams.tenant_id = due.tenant_id and audit_streams.id = due.id
returning audit_streams.tenant_id, audit_streams.id, audit_streams.lease;
