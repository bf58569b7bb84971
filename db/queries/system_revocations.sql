-- Queued revocations of grants, across tenants.

-- name: ClaimRevocation :one
-- Tenants alternate in the order of their ids, after the one served last. The backoff doubles from one minute to one
-- hour. It is set before the attempt. The claim of 30 seconds is longer than an attempt.
-- @sqlc-vet-disable tenant-scope
with under_way as materialized (
    select u.tenant_id, coalesce(u.grant_meta #>> '{server,issuer}', '') as issuer
    from account_revocations u
    where u.claimed_until > now()
), next as materialized (
    select r.tenant_id, r.id
    from account_revocations r
    where r.due_at <= now()
      and (select count(*) from under_way where under_way.tenant_id = r.tenant_id) < @per_tenant::integer
      and not exists (
          select from under_way
          where under_way.tenant_id = r.tenant_id
            and under_way.issuer = coalesce(r.grant_meta #>> '{server,issuer}', ''))
    order by (r.tenant_id > @after) desc, r.tenant_id, r.due_at
    limit 1
    for update skip locked
)
update account_revocations
set tries = tries + 1,
    due_at = now() + least(interval '1 hour', interval '1 minute' * power(2, least(tries, 10))),
    claimed_until = now() + interval '30 seconds'
from next
where account_revocations.tenant_id = next.tenant_id and account_revocations.id = next.id
returning account_revocations.tenant_id, account_revocations.id, account_revocations.connector_id, account_revocations.connector_slug,
          account_revocations.connector_name, account_revocations.agent_id, account_revocations.name,
          coalesce(account_revocations.grant_meta #>> '{server,issuer}', '')::text as issuer,
          (account_revocations.created_at < now() - interval '1 day')::boolean as last_try;
