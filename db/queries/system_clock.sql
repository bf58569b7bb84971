-- Scheduled syncs across tenants: due connectors, claims and results. See docs/adr/0008-the-clock.md.

-- name: DueShards :many
-- Unclaimed due connectors by shard, up to max_rows each. One index range per shard: a single range would scan every
-- connector.
-- @sqlc-vet-disable tenant-scope
select one.shard::smallint as shard, due.connectors
from (select unnest(@shards::smallint[]) as shard) one
cross join lateral (
    select count(*)::integer as connectors
    from (select clock.connector_id
          from connector_clock clock
          where clock.shard = one.shard and clock.due_at <= now()
            and not exists (select from instances where instances.id = clock.claimed_by)
          limit @max_rows) found
) due
where due.connectors > 0
order by one.shard;

-- name: ClaimClockTick :execrows
-- One process wins each second.
update clock_turn
set at = now()
where at < now() - interval '0.9 seconds';

-- name: LockShards :exec
-- Serializes claims in these shards until the transaction ends. Advisory locks write no WAL, unlike row locks. A fixed
-- order prevents deadlocks.
select pg_advisory_xact_lock(hashtext('patchbay due'), shard)
from unnest(@shards::integer[]) as shard;

-- name: ClaimDue :many
-- The caller has the shard locks. Fairness: a tenant's rank is the number of its connectors that are active or due
-- earlier. The oldest and the newest rows of a shard are read, so that a new tenant is seen behind a long backlog.
-- @sqlc-vet-disable tenant-scope
with seen as materialized (
    select due.tenant_id, due.connector_id, due.due_at, due.claimed_by
    from (select unnest(@shards::smallint[]) as shard) one
    cross join lateral (
        (select clock.tenant_id, clock.connector_id, clock.due_at, clock.claimed_by
         from connector_clock clock
         where clock.shard = one.shard and clock.due_at <= now()
         order by clock.due_at
         limit @oldest::integer)
        union
        (select clock.tenant_id, clock.connector_id, clock.due_at, clock.claimed_by
         from connector_clock clock
         where clock.shard = one.shard and clock.due_at <= now()
         order by clock.due_at desc
         limit @newest::integer)
    ) due
), ranked as (
    select seen.tenant_id, seen.connector_id, seen.due_at, seen.claimed_by, instances.id is null as free,
           row_number() over (partition by seen.tenant_id order by (instances.id is null), seen.due_at, seen.connector_id) as place
    from seen
    left join instances on instances.id = seen.claimed_by
), chosen as materialized (
    select ranked.tenant_id, ranked.connector_id, ranked.due_at, ranked.claimed_by
    from ranked
    where ranked.free and ranked.place <= @per_tenant::integer
    order by ranked.place, ranked.due_at
    limit @max_rows
)
update connector_clock
set claimed_by = @instance_id::uuid, claimed_at = now()
from chosen
join connectors on connectors.tenant_id = chosen.tenant_id and connectors.id = chosen.connector_id
where connector_clock.tenant_id = chosen.tenant_id and connector_clock.connector_id = chosen.connector_id
  and connector_clock.due_at = chosen.due_at and connector_clock.claimed_by is not distinct from chosen.claimed_by -- a run may have started meanwhile
returning sqlc.embed(connectors), connector_clock.claimed_at, connector_clock.due_at, connector_clock.failures, connector_clock.run_id,
          coalesce(extract(epoch from now() - connector_clock.failing_since), 0)::double precision as failing_s,
          coalesce(connector_clock.known_until > now(), false)::boolean as known;

-- name: EndUnchanged :many
-- Ends many syncs with unchanged lists, if their claims are still valid. A repetition of the newest run is counted
-- there; others insert a run. Connectors are locked before their clocks, as everywhere.
-- @sqlc-vet-disable tenant-scope
with ended as materialized (
    select unnest(@tenant_ids::uuid[]) as tenant_id,
           unnest(@connector_ids::uuid[]) as connector_id,
           unnest(@claimed_ats::timestamptz[]) as claimed_at,
           unnest(@hashes::bytea[]) as hash,
           unnest(@run_ids::uuid[]) as run_id,
           unnest(@began_ats::timestamptz[]) as began_at,
           unnest(@took_ms::bigint[]) as took_ms,
           unnest(@known_s::double precision[]) as known_s,
           unnest(@totals::integer[]) as total,
           unnest(@quarantined::integer[]) as quarantined
), stamped as (
    update connectors
    set tools_last_synced_at = now()
    from ended
    join connector_clock held on held.tenant_id = ended.tenant_id and held.connector_id = ended.connector_id
    where connectors.tenant_id = ended.tenant_id and connectors.id = ended.connector_id
      and connectors.tools_hash = ended.hash and connectors.last_error_code is null
      and held.claimed_by = @instance_id::uuid and held.claimed_at = ended.claimed_at
    returning connectors.tenant_id, connectors.id, connectors.enabled, connectors.sync_interval_s, connectors.server_protocol,
              ended.run_id, ended.began_at, ended.took_ms, ended.known_s, ended.total, ended.quarantined
), released as (
    update connector_clock
    set due_at = case when stamped.enabled
                      then next_due(stamped.sync_interval_s) end,
        claimed_by = null,
        claimed_at = null,
        run_id = coalesce(connector_clock.run_id, stamped.run_id),
        checks = case when connector_clock.run_id is null then 0 else connector_clock.checks + 1 end,
        checked_at = now(),
        ok_at = now(),
        known_until = coalesce(now() + make_interval(secs => nullif(stamped.known_s, 0)), connector_clock.known_until),
        hour = date_trunc('hour', now(), 'UTC'),
        hour_ok = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ok else 0 end + 1,
        hour_failed = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_failed else 0 end,
        hour_ms = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ms else 0 end + stamped.took_ms,
        hour_max_ms = greatest(case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_max_ms else 0 end, stamped.took_ms)
    from stamped
    where connector_clock.tenant_id = stamped.tenant_id and connector_clock.connector_id = stamped.id
    returning connector_clock.tenant_id, connector_clock.connector_id, connector_clock.run_id,
              stamped.run_id as own_run_id, stamped.began_at, stamped.total, stamped.quarantined, stamped.server_protocol
), written as (
    insert into sync_runs (tenant_id, id, connector_id, trigger, state, queued_at, started_at, finished_at,
                           tools_total, tools_quarantined, protocol_version)
    select released.tenant_id, released.run_id, released.connector_id, 'schedule', 'ok', released.began_at, released.began_at, now(),
           released.total, released.quarantined, released.server_protocol
    from released
    where released.run_id = released.own_run_id
)
select released.tenant_id, released.connector_id
from released;

-- name: EndFailed :many
-- Ends many failed syncs. again: a repetition of the newest run, counted there; others insert a run. answered, silent:
-- as in FailRun. The next attempt is delayed by up to a tenth more, to spread simultaneous failures. It is never
-- earlier than the server asked for.
-- @sqlc-vet-disable tenant-scope
with ended as materialized (
    select unnest(@tenant_ids::uuid[]) as tenant_id,
           unnest(@connector_ids::uuid[]) as connector_id,
           unnest(@claimed_ats::timestamptz[]) as claimed_at,
           unnest(@run_ids::uuid[]) as run_id,
           unnest(@again::boolean[]) as again,
           unnest(@began_ats::timestamptz[]) as began_at,
           unnest(@took_ms::bigint[]) as took_ms,
           unnest(@answered::integer[]) as answered,
           unnest(@silent::integer[]) as silent,
           unnest(@waits_s::double precision[]) as wait_s,
           unnest(@codes::text[]) as code,
           unnest(@messages::text[]) as message,
           unnest(@auth_behaviours::text[]) as auth_behaviour,
           unnest(@requests::text[]) as requests,
           unnest(@upstreams::text[]) as upstream
), stamped as (
    update connectors
    set last_error_code = ended.code,
        last_error_message = ended.message,
        last_error_at = now(),
        auth_behaviour = coalesce(nullif(ended.auth_behaviour, ''), connectors.auth_behaviour)
    from ended
    join connector_clock held on held.tenant_id = ended.tenant_id and held.connector_id = ended.connector_id
    where connectors.tenant_id = ended.tenant_id and connectors.id = ended.connector_id
      and held.claimed_by = @instance_id::uuid and held.claimed_at = ended.claimed_at
    returning connectors.tenant_id, connectors.id, connectors.enabled, connectors.sync_interval_s, held.run_id as last_run_id,
              held.checks as last_checks, held.checked_at as last_checked_at, ended.run_id, ended.again, ended.began_at, ended.answered, ended.silent,
              ended.took_ms * (ended.answered + ended.silent) as took_ms, ended.wait_s, ended.code, ended.message, ended.requests, ended.upstream
), released as (
    update connector_clock
    set due_at = case when stamped.enabled and stamped.sync_interval_s > 0 and stamped.wait_s >= 0
                      then now() + make_interval(secs => stamped.wait_s * (1 + 0.1 * random())) end,
        claimed_by = null,
        claimed_at = null,
        failures = connector_clock.failures + 1,
        failing_since = coalesce(connector_clock.failing_since, now()),
        run_id = case when stamped.again then connector_clock.run_id else stamped.run_id end,
        checks = case when stamped.again then connector_clock.checks + 1 else 0 end,
        checked_at = now(),
        hour = date_trunc('hour', now(), 'UTC'),
        hour_failed = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_failed else 0 end + stamped.silent,
        hour_ok = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ok else 0 end + stamped.answered,
        hour_ms = case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_ms else 0 end + stamped.took_ms,
        hour_max_ms = greatest(case when connector_clock.hour = date_trunc('hour', now(), 'UTC') then connector_clock.hour_max_ms else 0 end, stamped.took_ms)
    from stamped
    where connector_clock.tenant_id = stamped.tenant_id and connector_clock.connector_id = stamped.id
), closed as (
    update sync_runs
    set repeats = stamped.last_checks, repeated_at = stamped.last_checked_at
    from stamped
    where sync_runs.tenant_id = stamped.tenant_id and sync_runs.id = stamped.last_run_id
      and not stamped.again and stamped.last_checks > 0
), written as (
    insert into sync_runs (tenant_id, id, connector_id, trigger, state, queued_at, started_at, finished_at, error_code, error_message,
                           upstream)
    select stamped.tenant_id, stamped.run_id, stamped.id, 'schedule', 'error', stamped.began_at, stamped.began_at, now(),
           stamped.code, stamped.message, nullif(stamped.upstream, '')::jsonb
    from stamped
    where not stamped.again
), traced as (
    insert into sync_run_requests (tenant_id, run_id, requests)
    select stamped.tenant_id, stamped.run_id, stamped.requests::jsonb
    from stamped
    where not stamped.again and stamped.requests <> ''
)
select stamped.tenant_id, stamped.id
from stamped;

-- name: ReleaseClaims :exec
-- Claims of syncs without a result. They are due again after wait_s seconds.
-- @sqlc-vet-disable tenant-scope
update connector_clock
set claimed_by = null,
    claimed_at = null,
    due_at = now() + make_interval(secs => given.wait_s)
from (select unnest(@tenant_ids::uuid[]) as tenant_id,
             unnest(@connector_ids::uuid[]) as connector_id,
             unnest(@claimed_ats::timestamptz[]) as claimed_at,
             unnest(@waits_s::double precision[]) as wait_s) given
where connector_clock.tenant_id = given.tenant_id and connector_clock.connector_id = given.connector_id
  and connector_clock.claimed_by = @instance_id::uuid and connector_clock.claimed_at = given.claimed_at;

-- name: ReleaseUnknownClaims :execrows
-- Claims that the process does not know, because the database's response to ClaimDue was lost.
-- @sqlc-vet-disable tenant-scope
update connector_clock
set claimed_by = null,
    claimed_at = null
where connector_clock.shard between 0 and 15 and connector_clock.due_at <= now()
  and connector_clock.claimed_by = @instance_id::uuid and connector_clock.connector_id <> all(@known::uuid[])
  and not exists (
      select from sync_runs run
      where run.tenant_id = connector_clock.tenant_id and run.connector_id = connector_clock.connector_id and run.state = 'running');

-- name: LongQueuedRuns :many
-- Runs queued for longer than since_s seconds. A partial index covers queued runs.
-- @sqlc-vet-disable tenant-scope
select tenant_id, id, connector_id
from sync_runs
where state = 'queued' and queued_at < now() - make_interval(secs => @since_s::double precision)
order by id
limit @max_rows;

-- name: LiveInstances :many
select id
from instances
order by id;

-- name: Backlog :one
-- Metrics: unclaimed due connectors, counted as in DueShards, and queued runs.
-- @sqlc-vet-disable tenant-scope
select clock.due, clock.late_s, asked.queued, asked.waited_s, living.instances
from (select coalesce(sum(due.connectors), 0)::bigint as due,
             coalesce(extract(epoch from now() - min(due.oldest)), 0)::double precision as late_s
      from (select unnest(@shards::smallint[]) as shard) one
      cross join lateral (
          select count(*) as connectors, min(found.due_at) as oldest
          from (select clock.due_at
                from connector_clock clock
                where clock.shard = one.shard and clock.due_at <= now()
                  and not exists (select from instances where instances.id = clock.claimed_by)
                order by clock.due_at
                limit @max_rows) found
      ) due) clock
cross join (select count(*) as queued, coalesce(extract(epoch from now() - min(queued_at)), 0)::double precision as waited_s
            from sync_runs
            where state = 'queued') asked
cross join (select count(*) as instances from instances) living;
