-- +goose Up

-- A replaced account is revoked also if both have one name or none: it has another id or subject.
create or replace trigger queue_revocation_of_replaced before update on credentials
    for each row when (
        old.type = 'oauth2' and old.status <> 'revoked' and (
            new.type <> 'oauth2'
            or new.id <> old.id
            or new.account is distinct from old.account
            or new.grant_meta #>> '{identity,subject}' <> old.grant_meta #>> '{identity,subject}'
            or new.grant_meta ->> 'client_id' is distinct from old.grant_meta ->> 'client_id'
            or new.grant_meta #>> '{server,issuer}' is distinct from old.grant_meta #>> '{server,issuer}'))
    execute function queue_revocation();

-- +goose Down
create or replace trigger queue_revocation_of_replaced before update on credentials
    for each row when (
        old.type = 'oauth2' and old.status <> 'revoked' and (
            new.type <> 'oauth2'
            or new.account is distinct from old.account
            or new.grant_meta ->> 'client_id' is distinct from old.grant_meta ->> 'client_id'
            or new.grant_meta #>> '{server,issuer}' is distinct from old.grant_meta #>> '{server,issuer}'))
    execute function queue_revocation();
