-- Across tenants: grants that wait for their authorization server.

-- name: DueRevocations :many
-- Each is due again after a pause that doubles from a minute to an hour, whatever becomes of this try.
-- @sqlc-vet-disable tenant-scope
update account_revocations
set tries = tries + 1,
    due_at = now() + least(interval '1 hour', interval '1 minute' * power(2, least(tries, 10)))
from (
    select r.tenant_id, r.id
    from account_revocations r
    where r.due_at <= now()
    order by r.due_at
    limit @max_rows
    for update skip locked
) due
where account_revocations.tenant_id = due.tenant_id and account_revocations.id = due.id
returning account_revocations.tenant_id, account_revocations.id, account_revocations.connector_id, account_revocations.connector_slug,
          account_revocations.connector_name, account_revocations.agent_id,
          coalesce(account_revocations.grant_meta #>> '{server,issuer}', '')::text as issuer,
          (account_revocations.created_at < now() - interval '1 day')::boolean as last_try;
