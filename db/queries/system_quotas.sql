-- Quota counters across tenants, written in batches.

-- name: CountQuotas :many
-- Adds this process's counts and returns the totals of all processes. A locked tenant, one under deletion, is skipped
-- and not returned. Rows are locked in key order, so that concurrent batches do not deadlock.
-- @sqlc-vet-disable tenant-scope
with those_tenants as materialized (
    select tenants.id as tenant_id
    from tenants
    where tenants.id = any(@tenant_ids::uuid[])
    order by tenants.id
    for key share skip locked
)
insert into quota_days (tenant_id, day, connector_id, tool, calls, over_minute, over_day)
select new.tenant_id, new.day, new.connector_id, new.tool, new.calls, new.over_minute, new.over_day
from (
    select unnest(@tenant_ids::uuid[]) as tenant_id, unnest(@days::date[]) as day, unnest(@connector_ids::uuid[]) as connector_id,
           unnest(@tools::text[]) as tool, unnest(@calls::bigint[]) as calls, unnest(@over_minutes::bigint[]) as over_minute,
           unnest(@over_days::bigint[]) as over_day
) new
join those_tenants on those_tenants.tenant_id = new.tenant_id
order by new.tenant_id, new.day, new.connector_id, new.tool
on conflict on constraint quota_days_pkey do update
set calls = quota_days.calls + excluded.calls,
    over_minute = quota_days.over_minute + excluded.over_minute,
    over_day = quota_days.over_day + excluded.over_day
returning quota_days.tenant_id, quota_days.day, quota_days.connector_id, quota_days.tool, quota_days.calls;

-- name: QuotasOfDay :many
-- @sqlc-vet-disable tenant-scope
select tenant_id, connector_id, tool, calls
from quota_days
where day = @day;

-- name: DeleteOldQuotaDays :exec
-- @sqlc-vet-disable tenant-scope
delete from quota_days
where day < (now() at time zone 'UTC')::date - 35;
