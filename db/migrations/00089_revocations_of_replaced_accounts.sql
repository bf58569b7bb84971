-- +goose Up

-- A grant that is replaced by one of another account is revoked, too. An account that becomes known or unknown may be another one: the job
-- decides.
drop trigger queue_revocation_of_replaced on credentials;
create trigger queue_revocation_of_replaced before update on credentials
    for each row when (
        old.type = 'oauth2' and old.status <> 'revoked' and (
            new.type <> 'oauth2'
            or new.account is distinct from old.account
            or new.grant_meta ->> 'client_id' is distinct from old.grant_meta ->> 'client_id'
            or new.grant_meta #>> '{server,issuer}' is distinct from old.grant_meta #>> '{server,issuer}'))
    execute function queue_revocation();

-- +goose Down
drop trigger queue_revocation_of_replaced on credentials;
create trigger queue_revocation_of_replaced before update on credentials
    for each row when (
        old.type = 'oauth2' and old.status <> 'revoked' and (
            new.type <> 'oauth2'
            or new.grant_meta ->> 'client_id' is distinct from old.grant_meta ->> 'client_id'
            or new.grant_meta #>> '{server,issuer}' is distinct from old.grant_meta #>> '{server,issuer}'))
    execute function queue_revocation();
