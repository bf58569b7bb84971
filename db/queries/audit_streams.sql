-- Streams of the audit log and of call outcomes to a receiver.

-- name: CreateAuditStream :one
-- The stream starts after what both chains have now.
insert into audit_streams (tenant_id, id, name, kind, url, format, header, ca, origin, sealed, audit_n, audit_hash, calls_n, calls_hash, calls_record)
select @tenant_id, @id, @name, @kind, @url, @format, @header, @ca, @origin, sqlc.narg(sealed)::bytea,
       coalesce(a.events, 0), coalesce(a.hash, decode(repeat('00', 32), 'hex')), c.places, c.hash, c.records
from call_outcome_heads c
left join audit_heads a on a.tenant_id = c.tenant_id
where c.tenant_id = @tenant_id
returning *;

-- name: AuditStreams :many
-- The oldest first, with the last position of each chain.
select sqlc.embed(audit_streams), coalesce(a.events, 0)::bigint as audit_end, c.records as calls_end
from audit_streams
join call_outcome_heads c on c.tenant_id = audit_streams.tenant_id
left join audit_heads a on a.tenant_id = audit_streams.tenant_id
where audit_streams.tenant_id = @tenant_id
  and (sqlc.narg(id)::uuid is null or audit_streams.id = sqlc.narg(id))
order by audit_streams.id;

-- name: CountAuditStreams :one
select count(*)
from audit_streams
where tenant_id = @tenant_id;

-- name: LockAuditStreams :exec
-- Serializes the creation of streams, so that their number has a bound.
select pg_advisory_xact_lock(hashtextextended('patchbay audit streams ' || (@tenant_id::uuid)::text, 0));

-- name: UpdateAuditStream :execrows
-- A process that sends to another receiver than the new one loses the lease, and the next claim waits until its attempt has
-- ended. Without set_secret the secret stays, and without enabled the switch.
update audit_streams
set name = @name,
    url = @url,
    format = @format,
    header = @header,
    ca = @ca,
    origin = @origin,
    sealed = case when @set_secret::boolean then sqlc.narg(sealed)::bytea else audit_streams.sealed end,
    enabled = coalesce(sqlc.narg(enabled)::boolean, audit_streams.enabled),
    disabled_why = case when sqlc.narg(enabled)::boolean is null then disabled_why else '' end,
    lease = case when lease is not null and old.moved then gen_random_uuid() else lease end,
    leased_until = case when lease is not null and old.moved then now() + interval '30 seconds' else leased_until end,
    next_at = now(),
    failures = 0,
    refusals = 0,
    failing_since = null,
    last_error = '',
    updated_at = now()
from (
    select s.tenant_id, s.id,
           (@set_secret::boolean or (s.url, s.format, s.header, s.ca) is distinct from (@url, @format, @header, @ca))::boolean as moved
    from audit_streams s
    where s.tenant_id = @tenant_id and s.id = @id
    for update
) old
where audit_streams.tenant_id = old.tenant_id and audit_streams.id = old.id;

-- name: DeleteAuditStream :execrows
delete from audit_streams
where tenant_id = @tenant_id and id = @id;

-- name: LeasedAuditStream :one
-- The stream, if the lease still holds. The lease is renewed.
update audit_streams
set leased_until = now() + make_interval(secs => @seconds::double precision)
where tenant_id = @tenant_id and id = @id and lease = @lease::uuid and enabled
returning *;

-- name: AdvanceAuditStream :execrows
-- From one position only: after a lost response to a commit, the second try changes nothing.
update audit_streams
set audit_n = @audit_n,
    audit_hash = @audit_hash,
    calls_n = @calls_n,
    calls_hash = @calls_hash,
    calls_record = @calls_record,
    gap = case when @gap::text = '' then gap else @gap end,
    gap_at = case when @gap::text = '' then gap_at else now() end,
    failures = 0,
    refusals = 0,
    failing_since = null,
    last_error = '',
    delivered_at = now()
where tenant_id = @tenant_id and id = @id and lease = @lease::uuid
  and audit_n = @from_audit_n and calls_n = @from_calls_n and calls_record = @from_calls_record;

-- name: ReleaseAuditStream :exec
update audit_streams
set lease = null,
    leased_until = null
where tenant_id = @tenant_id and id = @id and lease = @lease::uuid;

-- name: FailAuditStream :one
-- Releases the lease until the next attempt.
update audit_streams
set failures = failures + 1,
    refusals = case when @refused::boolean then refusals + 1 else 0 end,
    failing_since = coalesce(failing_since, now()),
    last_error = @last_error,
    next_at = now() + make_interval(secs => @seconds::double precision),
    lease = null,
    leased_until = null
where tenant_id = @tenant_id and id = @id and lease = @lease::uuid
returning *;

-- name: PauseAuditStream :execrows
update audit_streams
set enabled = false,
    disabled_why = @disabled_why,
    lease = null,
    leased_until = null,
    updated_at = now()
where tenant_id = @tenant_id and id = @id and enabled;

-- name: StreamedOutcomes :many
-- Links after one, in chain order, as OutcomeLinks. The page ends with the link that reaches max_records.
select links.n, links.at, links.kind, links.calls, links.records_before, links.body, links.hash
from (
    select few.n, few.at, few.kind, few.calls, few.records_before, few.body, few.hash, sum(few.calls) over (order by few.n, few.at) - few.calls as earlier
    from (
        select o.n, o.at, o.kind, o.calls, coalesce(o.records_before, 0)::bigint as records_before, o.body, o.hash
        from call_outcomes o
        where o.tenant_id = @tenant_id and o.n > @after and o.n <= @until
        order by o.n, o.at
        limit @max_rows
    ) few
) links
where links.earlier < @max_records::bigint
order by links.n, links.at;
