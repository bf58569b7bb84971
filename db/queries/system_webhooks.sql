-- What of notices and deliveries ends or begins by itself, across tenants.

-- name: DropOldNotices :exec
-- @sqlc-vet-disable tenant-scope
delete from notices
where at < now() - interval '90 days';

-- name: DropOldDeliveries :exec
-- @sqlc-vet-disable tenant-scope
delete from webhook_deliveries
where created_at < now() - interval '30 days';

-- name: OverdueDeliveries :many
-- Those that nobody has taken up for a while: their jobs are lost, or the processes that had them.
-- @sqlc-vet-disable tenant-scope
select tenant_id, id, tries
from webhook_deliveries
where state = 'waiting' and next_at < now() - make_interval(secs => @seconds::double precision)
order by next_at, tenant_id, id
limit @max_rows;

-- name: LapsingAccounts :many
-- Accounts that end soon, or have just ended, that nobody but a person can renew, and of which nothing was said lately.
-- @sqlc-vet-disable tenant-scope
select credentials.tenant_id, credentials.id, connectors.id as connector_id, connectors.name as connector, connectors.slug as connector_slug,
       coalesce(agents.name, '')::text as agent, coalesce(agents.slug, '')::text as agent_slug, lapses.at::timestamptz as lapses_at
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
