-- Quotas of a tenant and their use. Quotas of tools are stored with the tools (CurateTools).

-- name: QuotaUses :many
-- Use on a day; quotas that were exceeded come first.
select quota_days.connector_id, coalesce(connectors.slug, '')::text as connector_slug, quota_days.tool, quota_days.calls, quota_days.over_minute,
       quota_days.over_day, coalesce(tools.calls_per_minute, tenants.calls_per_minute)::integer as calls_per_minute,
       coalesce(tools.calls_per_day, tenants.calls_per_day)::integer as calls_per_day
from quota_days
join tenants on tenants.id = quota_days.tenant_id
left join connectors on connectors.tenant_id = quota_days.tenant_id and connectors.id = quota_days.connector_id
left join tools on tools.tenant_id = quota_days.tenant_id and tools.connector_id = quota_days.connector_id and tools.name = quota_days.tool
where quota_days.tenant_id = @tenant_id and quota_days.day = @day
  and (quota_days.tool = '' or tools.name is not null)
  and (sqlc.narg(connector)::uuid is null or quota_days.connector_id = sqlc.narg(connector) and quota_days.tool = @tool::text)
order by quota_days.over_minute + quota_days.over_day > 0 desc, quota_days.connector_id, quota_days.tool
limit @max_rows;

-- name: SetTenantQuota :execrows
update tenants
set calls_per_minute = @calls_per_minute, calls_per_day = @calls_per_day, updated_at = now()
where tenants.id = @tenant_id;

-- name: SetOperatorQuota :execrows
update tenants
set most_calls_per_minute = @calls_per_minute, most_calls_per_day = @calls_per_day, updated_at = now()
where tenants.id = @tenant_id;
