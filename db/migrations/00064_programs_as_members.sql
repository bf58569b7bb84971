-- +goose Up

-- A program may also act as the member who let it in, at the address where Patchbay is a server about itself: it is no agent then, and has a
-- scope, which is what it may do of what the member may. by_sso: the member had signed in at the tenant's own provider when they let it in.
alter table agent_clients
    alter column agent_id drop not null,
    add column scope  text,
    add column by_sso boolean not null default false,
    add constraint agent_clients_agent_or_member check ((agent_id is null) = (scope is not null) and (scope is not null) = (resource = '/mcp/admin')),
    add constraint agent_clients_scope_known check (scope in ('admin:read', 'admin'));

-- The access tokens of those programs. They are no agents' tokens, in a table of their own and with a text of their own kind: neither is ever
-- looked up where the other counts.
create table member_tokens (
    tenant_id       uuid        not null,
    id              uuid        not null,
    agent_client_id uuid        not null,
    secret_mac      bytea       not null,
    created_at      timestamptz not null default now(),
    expires_at      timestamptz not null,
    last_used_at    timestamptz,
    constraint member_tokens_pkey primary key (tenant_id, id),
    constraint member_tokens_id_key unique (id),
    constraint member_tokens_agent_client_fkey foreign key (tenant_id, agent_client_id) references agent_clients (tenant_id, id) on delete cascade
);
create index member_tokens_agent_client_idx on member_tokens (tenant_id, agent_client_id);
create index member_tokens_expires_idx on member_tokens (tenant_id, expires_at);
create trigger recognised_by_a_living_key before insert or update of secret_mac on member_tokens
    for each row execute function refuse_retired_mac();

-- When all of a person's sessions were ended but perhaps the one that did it: programs that act as them and were let in before are over, in
-- each of their tenants. Null: never yet.
alter table users add column signed_out_at timestamptz;

-- Questions to a person that were answered with a yes: each is good once, at whichever server the answer comes.
create table spent_confirmations (
    tenant_id uuid        not null references tenants (id) on delete cascade,
    id        uuid        not null,
    until     timestamptz not null,
    constraint spent_confirmations_pkey primary key (tenant_id, id)
);
create index spent_confirmations_until_idx on spent_confirmations (tenant_id, until);

-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['member_tokens', 'spent_confirmations'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
            with check (tenant_id = (select tenant()) or (select system_scope()))', t);
        execute format('grant select, insert, update, delete on %I to patchbay_app', t);
    end loop;
end $$;
-- +goose StatementEnd

-- +goose Down
drop table spent_confirmations;
alter table users drop column signed_out_at;
drop table member_tokens;
delete from agent_clients where agent_id is null;
alter table agent_clients
    drop constraint agent_clients_scope_known,
    drop constraint agent_clients_agent_or_member,
    drop column by_sso,
    drop column scope,
    alter column agent_id set not null;
