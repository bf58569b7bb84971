-- Items that need attention. total counts all items of a kind, beyond max_rows.

-- name: AttentionApprovals :many
select approvals.id, approvals.asked_at, approvals.expires_at, approvals.tool, agents.name as agent, connectors.name as connector,
       connectors.slug, connectors.url, connectors.icon_hash,
       count(*) over () as total
from approvals
join agents on agents.tenant_id = approvals.tenant_id and agents.id = approvals.agent_id
join connectors on connectors.tenant_id = approvals.tenant_id and connectors.id = approvals.connector_id
where approvals.tenant_id = @tenant_id and approvals.state = 'waiting' and approvals.expires_at > now()
order by approvals.id desc
limit @max_rows;

-- name: AttentionRequests :many
select r.id, r.asked_at, r.asked_by, agents.name as agent, connectors.name as connector, connectors.slug, connectors.url, connectors.icon_hash,
       count(*) over () as total
from access_requests r
join agents on agents.tenant_id = r.tenant_id and agents.id = r.agent_id
join connectors on connectors.tenant_id = r.tenant_id and connectors.id = r.connector_id
where r.tenant_id = @tenant_id and r.state = 'open'
order by r.id desc
limit @max_rows;

-- name: AttentionConnectors :many
-- Connectors without a usable credential, and connectors that fail. Newest first within each kind. A connector that was
-- never synced waits for its credential too, while its status says never_synced.
with needy as (
    select connectors.id, connectors.slug, connectors.name, connectors.url, connectors.icon_hash, connectors.auth_type, connectors.credential_mode,
           connectors.tools_last_synced_at is not null as synced,
           case when connectors.status = 'error' and connector_needs_credential(connectors.auth_type, coalesce(held.stored, 0), coalesce(held.ended, 0)) then ''
                else coalesce(connectors.last_error_message, '') end as reason,
           coalesce(clock.failing_since, connectors.last_error_at, connectors.updated_at) as since,
           connectors.status = 'needs_auth'
               or connector_needs_credential(connectors.auth_type, coalesce(held.stored, 0), coalesce(held.ended, 0)) as needs_auth,
           connectors.status = 'error' as failing
    from connectors
    join connector_clock clock on clock.tenant_id = connectors.tenant_id and clock.connector_id = connectors.id
    left join (
        select credentials.connector_id, credentials.agent_id is null as shared, count(*) as stored,
               count(*) filter (where credentials.status in ('expired', 'revoked')) as ended
        from credentials
        where credentials.tenant_id = @tenant_id
        group by credentials.connector_id, credentials.agent_id is null
    ) held on held.connector_id = connectors.id and held.shared = (connectors.credential_mode = 'shared')
    where connectors.tenant_id = @tenant_id and connectors.enabled
)
select listed.slug, listed.name, listed.url, listed.icon_hash, listed.auth_type, listed.credential_mode, listed.synced::boolean as synced, listed.reason::text as reason,
       listed.since::timestamptz as since, listed.needs_auth::boolean as needs_auth, listed.total
from (
    select needy.id, needy.slug, needy.name, needy.url, needy.icon_hash, needy.auth_type, needy.credential_mode, needy.synced, needy.reason, needy.since, needy.needs_auth,
           count(*) over (partition by needy.needs_auth) as total,
           row_number() over (partition by needy.needs_auth order by needy.since desc, needy.id desc) as nth
    from needy
    where needy.needs_auth or needy.failing
) listed
where listed.nth <= @max_rows::integer
order by listed.needs_auth desc, listed.nth;

-- name: CountNeeds :one
-- The counts of CountBadges, the open requests for access, and how many rows AttentionConnectors, AttentionVanished and AttentionRenewals list together.
select (
    select count(*)
    from approvals
    where approvals.tenant_id = @tenant_id and approvals.state = 'waiting' and approvals.expires_at > now()
) as approvals, (
    select count(*)
    from tool_changes
    where tool_changes.tenant_id = @tenant_id and tool_changes.state = 'waiting'
) as changes, (
    select count(*)
    from access_requests
    where access_requests.tenant_id = @tenant_id and access_requests.state = 'open'
) as requests, ((
    select count(*)
    from connectors
    left join (
        select credentials.connector_id, credentials.agent_id is null as shared, count(*) as stored,
               count(*) filter (where credentials.status in ('expired', 'revoked')) as ended
        from credentials
        where credentials.tenant_id = @tenant_id
        group by credentials.connector_id, credentials.agent_id is null
    ) held on held.connector_id = connectors.id and held.shared = (connectors.credential_mode = 'shared')
    where connectors.tenant_id = @tenant_id and connectors.enabled
      and (connectors.status in ('needs_auth', 'error')
           or connector_needs_credential(connectors.auth_type, coalesce(held.stored, 0), coalesce(held.ended, 0)))
) + (
    select count(*)
    from connector_clock clock
    join connectors on connectors.tenant_id = clock.tenant_id and connectors.id = clock.connector_id
    where clock.tenant_id = @tenant_id and clock.vanished_at is not null and connectors.enabled
) + (
    select count(*)
    from credentials
    join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
    cross join lateral (
        select case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                    then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                    else credentials.expires_at end as at
    ) lapses
    where credentials.tenant_id = @tenant_id and credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')
      and connectors.enabled
      and lapses.at < now() + make_interval(secs => @seconds::double precision)
      and (connectors.status <> 'needs_auth' or credentials.agent_id is not null and lapses.at >= now())
))::bigint as connectors;

-- name: AttentionRenewals :many
-- The rows of ExpiringCredentials, the next expiry first. A connector that needs authorization is listed for it already: the
-- shared account and those that expired are left out.
select connectors.slug as connector_slug, connectors.name as connector, connectors.url, connectors.icon_hash,
       coalesce(agents.slug, '')::text as agent_slug,
       coalesce(agents.name, '')::text as agent, credentials.name as account_name, lapses.at::timestamptz as lapses_at, count(*) over () as total
from credentials
join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
left join agents on agents.tenant_id = credentials.tenant_id and agents.id = credentials.agent_id
cross join lateral (
    select case when (credentials.grant_meta ->> 'refreshable')::boolean is true
                then (credentials.grant_meta ->> 'refresh_expires_at')::timestamptz
                else credentials.expires_at end as at
) lapses
where credentials.tenant_id = @tenant_id and credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')
  and connectors.enabled
  and lapses.at < now() + make_interval(secs => @seconds::double precision)
  and (connectors.status <> 'needs_auth' or credentials.agent_id is not null and lapses.at >= now())
order by lapses.at, credentials.id
limit @max_rows;

-- name: AttentionReviews :many
select tool_changes.id, connectors.slug, connectors.name as connector, connectors.url, connectors.icon_hash, tool_changes.tool, tool_changes.seen_at, tool_changes.risk,
       (tool_changes.before_hash is null)::boolean as is_new, count(*) over () as total
from tool_changes
join connectors on connectors.tenant_id = tool_changes.tenant_id and connectors.id = tool_changes.connector_id
where tool_changes.tenant_id = @tenant_id and tool_changes.state = 'waiting'
order by tool_changes.id desc
limit @max_rows;
