-- Hourly totals of a tenant. The cost of a read does not depend on the number of calls and syncs.

-- name: CallHours :many
-- The latency histogram of each hour, as arrays of buckets and counts of equal length.
select hour, sum(ok)::bigint as ok, sum(failed)::bigint as failed, sum(other)::bigint as other,
       array_agg(bucket order by bucket)::smallint[] as buckets, array_agg(ok + failed order by bucket)::integer[] as counts
from call_hours
where tenant_id = @tenant_id and hour >= @since
group by hour
order by hour;

-- name: SyncHours :many
-- The sum of the rolled-up hours, the connectors' hours that are not rolled up yet, and the current hours. tools -1:
-- unknown.
select past.hour::timestamptz as hour, sum(past.ok)::bigint as ok, sum(past.failed)::bigint as failed, coalesce(max(past.tools), -1)::integer as tools
from (
    select sync_hours.hour, sync_hours.ok, sync_hours.failed, sync_hours.tools
    from sync_hours
    where sync_hours.tenant_id = @tenant_id and sync_hours.hour >= @since
    union all
    select connector_health.hour, connector_health.ok, connector_health.failed, null as tools
    from connector_health
    where connector_health.tenant_id = @tenant_id and connector_health.hour >= @since and not connector_health.rolled
    union all
    select connector_clock.hour, connector_clock.hour_ok as ok, connector_clock.hour_failed as failed, null as tools
    from connector_clock
    where connector_clock.tenant_id = @tenant_id and connector_clock.hour >= @since and connector_clock.hour_ok + connector_clock.hour_failed > 0
) past
group by past.hour
order by past.hour;

-- name: UsageMark :many
-- The start of the displayed totals. No row: all are displayed.
select *
from usage_marks
where tenant_id = @tenant_id;

-- name: MarkUsage :exec
insert into usage_marks (tenant_id, since, hour, ok, failed, other, buckets, counts, syncs_ok, syncs_failed)
values (@tenant_id, @since, @hour, @ok, @failed, @other, @buckets::smallint[], @counts::integer[], @syncs_ok, @syncs_failed)
on conflict (tenant_id) do update
set since = excluded.since, hour = excluded.hour, ok = excluded.ok, failed = excluded.failed, other = excluded.other,
    buckets = excluded.buckets, counts = excluded.counts, syncs_ok = excluded.syncs_ok, syncs_failed = excluded.syncs_failed;
