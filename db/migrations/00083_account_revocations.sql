-- +goose Up

-- Grants whose credential was deleted, until their authorization server has revoked them. sealed is the credential's, and opens by the
-- connector, agent and origin of the row. id: the credential's. A grant that cannot be revoked within a day is given up.
create table account_revocations (
    tenant_id    uuid        not null references tenants (id) on delete cascade,
    id           uuid        not null,
    connector_id uuid        not null,
    agent_id     uuid,
    origin       text        not null,
    sealed       bytea       not null,
    grant_meta   jsonb       not null,
    account      text        not null default '',
    tries        integer     not null default 0,
    due_at       timestamptz not null default now() + interval '10 seconds', -- after a request that revokes it by itself
    created_at   timestamptz not null default now(),
    constraint account_revocations_pkey primary key (tenant_id, id),
    constraint account_revocations_tries_positive check (tries >= 0)
);
create index account_revocations_due_idx on account_revocations (due_at);

-- The secret of the connector's own client, for which such a grant is: the connector may be gone, or have another one.
create table revocation_clients (
    tenant_id    uuid  not null,
    id           uuid  not null,
    connector_id uuid  not null,
    client_id    text  not null,
    origin       text  not null,
    issuer       text  not null,
    sealed       bytea not null,
    constraint revocation_clients_pkey primary key (tenant_id, id),
    constraint revocation_clients_revocation_fkey foreign key (tenant_id, id) references account_revocations (tenant_id, id) on delete cascade
);

-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['account_revocations', 'revocation_clients'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', t);
        execute format('grant select, insert, update, delete on %I to patchbay_app', t);
        execute format('create trigger sealed_by_a_living_key before insert or update of sealed on %I for each row execute function refuse_retired_key()', t);
    end loop;
end $$;
-- +goose StatementEnd

-- Whatever deletes a credential asks for its revocation: its own route, its connector, its agent, a member who leaves, another origin. With
-- the tenant goes the key that opens it, so that a tenant's deletion asks for none.
-- +goose StatementBegin
create function queue_revocation() returns trigger
    language plpgsql
as $$
begin
    if not exists (select from tenants where tenants.id = old.tenant_id) then
        return old;
    end if;
    insert into account_revocations (tenant_id, id, connector_id, agent_id, origin, sealed, grant_meta, account)
    values (old.tenant_id, old.id, old.connector_id, old.agent_id, old.origin, old.sealed, old.grant_meta, old.account)
    on conflict on constraint account_revocations_pkey do nothing;
    insert into revocation_clients (tenant_id, id, connector_id, client_id, origin, issuer, sealed)
    select c.tenant_id, old.id, c.connector_id, c.client_id, c.origin, c.issuer, c.sealed
    from connector_clients c
    where c.tenant_id = old.tenant_id
      and c.connector_id = old.connector_id
      and c.client_id = old.grant_meta ->> 'client_id'
      and c.issuer = old.grant_meta #>> '{server,issuer}'
    on conflict on constraint revocation_clients_pkey do nothing;
    return old;
end $$;
-- +goose StatementEnd
create trigger queue_revocation before delete on credentials
    for each row when (old.type = 'oauth2' and old.status <> 'revoked')
    execute function queue_revocation();

-- +goose Down
drop trigger queue_revocation on credentials;
drop function queue_revocation();
drop table revocation_clients;
drop table account_revocations;
