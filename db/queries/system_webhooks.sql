-- Notices and deliveries that expire or become due, across tenants.

-- name: DeleteOldNotices :exec
-- @sqlc-vet-disable tenant-scope
delete from notices
where at < now() - interval '90 days';

-- name: DeleteOldDeliveries :exec
-- @sqlc-vet-disable tenant-scope
delete from webhook_deliveries
where created_at < now() - interval '30 days';

-- name: OverdueDeliveries :many
-- Deliveries due for longer than @seconds: the job or its process was lost.
-- @sqlc-vet-disable tenant-scope
select tenant_id, id, tries
from webhook_deliveries
where state = 'waiting' and next_at < now() - make_interval(secs => @seconds::double precision)
order by next_at, tenant_id, id
limit @max_rows;

-- name: ExpiringAccounts :many
-- Accounts that expire within @seconds or expired within a day, cannot be refreshed further, and have no recent notice.
-- @sqlc-vet-disable tenant-scope
select credentials.tenant_id, credentials.id, connectors.id as connector_id, connectors.name as connector, connectors.slug as connector_slug,
       coalesce(agents.name, '')::text as agent, coalesce(agents.slug, '')::text as agent_slug, credentials.name as account_name,
       lapses.at::timestamptz as lapses_at
from credentials
join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
cross join lateral (
    select case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                else credentials.expires_at end as at
) lapses
where credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed') and connectors.enabled
  and lapses.at < now() + make_interval(secs => @seconds::double precision) and lapses.at > now() - interval '1 day'
  and not exists (
      select from notices
      where notices.tenant_id = credentials.tenant_id and notices.subject_key = 'lapsing ' || credentials.id
        and notices.at > now() - make_interval(secs => @seconds::double precision))
order by credentials.tenant_id, lapses.at, credentials.id
limit @max_rows;

-- name: NewlyDown :many
-- Connectors that are down by their tenants' settings, without a notice since the first failure. Refused credentials
-- are in NewlyRefused.
-- @sqlc-vet-disable tenant-scope
select connectors.tenant_id, connectors.id, connectors.name, connectors.slug, connector_clock.failing_since, connector_clock.failures,
       connectors.last_error_message, last_run.upstream
from connector_clock
join connectors on connectors.tenant_id = connector_clock.tenant_id and connectors.id = connector_clock.connector_id
join tenants on tenants.id = connectors.tenant_id
left join lateral (
    select sync_runs.upstream
    from sync_runs
    where sync_runs.tenant_id = connectors.tenant_id and sync_runs.connector_id = connectors.id and sync_runs.state in ('ok', 'error')
    order by sync_runs.id desc
    limit 1
) last_run on true
where connector_clock.failing_since is not null
  and connector_is_down(connector_clock.failures, connector_clock.failing_since, connector_clock.checked_at,
                        tenants.down_after_failures, tenants.down_after_minutes)
  and connectors.enabled and connectors.last_error_code not in ('unauthorized', 'credential_required')
  and not exists (
      select from notices
      where notices.tenant_id = connectors.tenant_id and notices.subject_key = 'down ' || connectors.id
        and notices.at > connector_clock.failing_since)
order by connectors.tenant_id, connectors.id
limit @max_rows;

-- name: NewlyRefused :many
-- Connectors without an accepted credential, and without a notice since the last success. @seconds leaves time to
-- connect a new one.
-- @sqlc-vet-disable tenant-scope
select connectors.tenant_id, connectors.id, connectors.name, connectors.slug, connectors.last_error_message, last_run.upstream
from connector_clock
join connectors on connectors.tenant_id = connector_clock.tenant_id and connectors.id = connector_clock.connector_id
left join lateral (
    select sync_runs.upstream
    from sync_runs
    where sync_runs.tenant_id = connectors.tenant_id and sync_runs.connector_id = connectors.id and sync_runs.state in ('ok', 'error')
    order by sync_runs.id desc
    limit 1
) last_run on true
where connector_clock.failing_since < now() - make_interval(secs => @seconds::double precision)
  and connectors.enabled and connectors.last_error_code in ('unauthorized', 'credential_required')
  and not exists (
      select from notices
      where notices.tenant_id = connectors.tenant_id and notices.subject_key = 'needs_auth ' || connectors.id || ' '
        and notices.at > coalesce(connector_clock.ok_at, '-infinity'))
order by connectors.tenant_id, connectors.id
limit @max_rows;

-- name: NewlyRecovered :many
-- Connectors that work again after a notice that they are down.
-- @sqlc-vet-disable tenant-scope
select connectors.tenant_id, connectors.id, connectors.name, connectors.slug, max((down.data ->> 'failing_since')::timestamptz)::timestamptz as failing_since
from notices down
join connectors on connectors.tenant_id = down.tenant_id and 'down ' || connectors.id = down.subject_key
join connector_clock on connector_clock.tenant_id = connectors.tenant_id and connector_clock.connector_id = connectors.id
where down.kind = 'connector.down' and connector_clock.failing_since is null and connector_clock.ok_at > down.at
  and not exists (
      select from notices again
      where again.tenant_id = down.tenant_id and again.subject_key = 'recovered ' || connectors.id and again.at > down.at)
group by connectors.tenant_id, connectors.id
order by connectors.tenant_id, connectors.id
limit @max_rows;
