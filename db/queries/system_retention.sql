-- What ends by itself across tenants: whose history is to be swept, what was left behind half-way, and grants that nobody uses.

-- name: HistoryTenants :many
-- @sqlc-vet-disable tenant-scope
select tenants.id, tenants.history_days
from tenants
where tenants.id > @after_id::uuid
order by tenants.id
limit @max_rows;

-- name: DropStaleFlows :execrows
-- Connections of accounts that were begun and never came back.
-- @sqlc-vet-disable tenant-scope
delete from oauth_flows
where expires_at < now();

-- name: DropExpiredConnectLinks :execrows
-- @sqlc-vet-disable tenant-scope
delete from connect_links
where expires_at < now();

-- name: DropDeadRegistrations :execrows
-- Of clients whose secret has ended: they are not used any more.
-- @sqlc-vet-disable tenant-scope
delete from client_registrations
where secret_expires_at < now() - interval '1 day';

-- name: DropSpentSetupLinks :execrows
-- A link is dead when its tenant has an owner, however that came to be.
-- @sqlc-vet-disable tenant-scope
delete from setup_links
where exists (
    select from memberships
    where memberships.tenant_id = setup_links.tenant_id and memberships.role = 'owner');

-- name: DropOldSignInFailures :execrows
delete from sign_in_failures
where at < now() - interval '1 day';

-- name: IdleGrants :many
-- Grants with a refresh token that nobody used or renewed for a day and up to two hours more, other ones for each renewal, so that those that
-- began together do not stay together. One that could not be renewed is tried again after an hour. Only those that serve somebody.
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
  and (credentials.grant_meta ->> 'refreshable')::boolean is true
  and (credentials.lease_until is null or credentials.lease_until < now())
  and (credentials.retry_at is null or credentials.retry_at <= now())
  and connectors.enabled and connectors.auth_type = 'oauth2'
  and (connectors.credential_mode = 'shared') = (credentials.agent_id is null)
order by credentials.updated_at, credentials.id
limit @max_rows;

-- name: DropOldAccountRequests :execrows
-- Of calls that missed an account: nobody comes back for one, and a session that is to hear of it was told.
-- @sqlc-vet-disable tenant-scope
delete from account_requests
where expires_at < now() - interval '1 day';
