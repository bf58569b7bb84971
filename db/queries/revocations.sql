-- name: Revocation :one
-- client_sealed is the secret of the connector's own client, if the grant is for that client. superseded: the same
-- client has a newer grant of the same account. Many servers end all grants of a user with one revocation. Accounts are
-- compared by subject, else by name. If the name of either is unknown, the accounts count as the same for the same agent
-- and the same connector or origin. A grant that replaced this one has its created_at as connected_at.
select sqlc.embed(r), coalesce(c.client_id, '')::text as client_id, coalesce(c.origin, '')::text as client_origin,
       coalesce(c.issuer, '')::text as client_issuer, c.sealed as client_sealed,
       exists (
           select from credentials newer
           where newer.tenant_id = @tenant_id
             and newer.type = 'oauth2'
             and coalesce(newer.connected_at, newer.created_at) >= r.created_at
             and newer.grant_meta ->> 'client_id' = r.grant_meta ->> 'client_id'
             and newer.grant_meta #>> '{server,issuer}' = r.grant_meta #>> '{server,issuer}'
             and case
                 when newer.grant_meta #>> '{identity,subject}' is not null and r.grant_meta #>> '{identity,subject}' is not null
                     then newer.grant_meta #>> '{identity,subject}' = r.grant_meta #>> '{identity,subject}'
                 when newer.account = '' or r.account = '' then newer.agent_id is not distinct from r.agent_id
                     and (newer.connector_id = r.connector_id or newer.origin = r.origin)
                 else newer.account = r.account end
       ) as superseded
from account_revocations r
left join revocation_clients c on c.tenant_id = r.tenant_id and c.id = r.id
where r.tenant_id = @tenant_id and r.id = @id;

-- name: FinishRevocation :execrows
delete from account_revocations
where tenant_id = @tenant_id and id = @id;

-- name: ReleaseRevocation :execrows
update account_revocations
set claimed_until = null
where tenant_id = @tenant_id and id = @id;

-- name: HoldsGrantOf :one
-- Accounts are compared as in Revocation, without its rule for unknown accounts.
select exists (
    select from credentials
    where tenant_id = @tenant_id
      and type = 'oauth2'
      and grant_meta ->> 'client_id' = @client_id::text
      and grant_meta #>> '{server,issuer}' = @issuer::text
      and case
          when grant_meta #>> '{identity,subject}' is not null and @subject::text <> ''
              then grant_meta #>> '{identity,subject}' = @subject::text
          else account <> '' and account = @account::text end
)::boolean;
