-- Expiry across tenants: history, abandoned rows and unused grants.

-- name: HistoryTenants :many
-- @sqlc-vet-disable tenant-scope
select tenants.id, tenants.history_days
from tenants
where tenants.id > @after_id::uuid
order by tenants.id
limit @max_rows;

-- name: DeleteStaleFlows :execrows
-- Authorization flows without a callback.
-- @sqlc-vet-disable tenant-scope
delete from oauth_flows
where expires_at < now();

-- name: DeleteExpiredConnectLinks :execrows
-- @sqlc-vet-disable tenant-scope
delete from connect_links
where expires_at < now();

-- name: DeleteDeadRegistrations :execrows
-- Clients with an expired secret.
-- @sqlc-vet-disable tenant-scope
delete from client_registrations
where secret_expires_at < now() - interval '1 day';

-- name: DeleteSpentSetupLinks :execrows
-- A link is invalid as soon as its tenant has an owner.
-- @sqlc-vet-disable tenant-scope
delete from setup_links
where exists (
    select from memberships
    where memberships.tenant_id = setup_links.tenant_id and memberships.role = 'owner');

-- name: DeleteOldSignInFailures :execrows
delete from sign_in_failures
where at < now() - interval '1 day';

-- name: IdleGrants :many
-- Grants with a refresh token that were not used or refreshed for a day, plus up to two hours by a hash of id and
-- version. The hash spreads grants that were created together. After a failed refresh the wait is an hour. Only grants
-- in use by an enabled connector.
-- @sqlc-vet-disable tenant-scope
select credentials.tenant_id, credentials.id, credentials.connector_id, credentials.agent_id, credentials.version, credentials.updated_at,
       coalesce(credentials.grant_meta -> 'server' ->> 'issuer', '')::text as issuer
from credentials
join connectors on connectors.tenant_id = credentials.tenant_id and connectors.id = credentials.connector_id
where credentials.type = 'oauth2' and credentials.status in ('active', 'refresh_failed')
  and (credentials.updated_at, credentials.id) > (@after_at::timestamptz, @after_id::uuid)
  and credentials.updated_at < now() - interval '1 hour'
  and (credentials.status = 'refresh_failed'
       or credentials.updated_at < now() - interval '1 day' - make_interval(secs => abs(hashtext(credentials.id::text || credentials.version) % 7200)))
  and coalesce(credentials.last_used_at, '-infinity') < now() - interval '1 day'
  and (credentials.grant_meta ->> 'refreshable')::boolean is true and credentials.member_id is null and credentials.grant_meta -> 'exchange' is null
  and (credentials.lease_until is null or credentials.lease_until < now())
  and (credentials.retry_at is null or credentials.retry_at <= now())
  and connectors.enabled and connectors.auth_type = 'oauth2'
  and (connectors.credential_mode = 'shared') = (credentials.agent_id is null)
order by credentials.updated_at, credentials.id
limit @max_rows;

-- name: DeleteOldAccountRequests :execrows
-- Requests expired for a day. Their sessions were notified before.
-- @sqlc-vet-disable tenant-scope
delete from account_requests
where expires_at < now() - interval '1 day';
