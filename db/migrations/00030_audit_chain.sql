-- +goose Up

-- The audit log as a chain per tenant: each entry's hash covers all its columns and the hash before it, so that whoever changes, removes or
-- slips in an entry has to write every later hash anew. internal/store/audit_chain.go computes the same from what it reads.

-- A column in the hashed bytes: its length in bytes and itself; null: -1.
-- +goose StatementBegin
create function audit_field(value text) returns bytea
    language sql immutable parallel safe
as $$ select case when value is null then int4send(-1) else int4send(octet_length(convert_to(value, 'UTF8'))) || convert_to(value, 'UTF8') end $$;
-- +goose StatementEnd

-- +goose StatementBegin
create function audit_hash(before bytea, n bigint, e audit_events) returns bytea
    language sql immutable parallel safe
as $$ select sha256(before || int8send(n) || uuid_send(e.tenant_id) || uuid_send(e.id) || int8send((extract(epoch from e.at) * 1000000)::bigint)
    || audit_field(e.actor_type) || audit_field(e.actor_id::text) || audit_field(e.actor_name) || audit_field(e.action) || audit_field(e.target)
    || audit_field(e.detail::text) || audit_field(e.request_id) || audit_field(e.ip)) $$;
-- +goose StatementEnd

-- n: 1 is the tenant's first entry. hash: SHA-256 over the hash before it (32 zero bytes for the first), n and the entry.
create table audit_chain (
    tenant_id uuid   not null references tenants (id) on delete cascade,
    n         bigint not null,
    event_id  uuid   not null,
    hash      bytea  not null,
    constraint audit_chain_pkey primary key (tenant_id, n),
    constraint audit_chain_event_key unique (tenant_id, event_id),
    constraint audit_chain_n_positive check (n > 0),
    constraint audit_chain_hash_length check (length(hash) = 32)
);

-- Where each chain ends, so that its last entries cannot be cut off unseen. checked_at, checked_events: the last check of the whole chain,
-- and how many entries it held good; checked_bad: the first entry that it did not.
create table audit_heads (
    tenant_id      uuid        not null references tenants (id) on delete cascade,
    events         bigint      not null,
    hash           bytea       not null,
    checked_at     timestamptz,
    checked_events bigint,
    checked_bad    bigint,
    constraint audit_heads_pkey primary key (tenant_id),
    constraint audit_heads_hash_length check (length(hash) = 32)
);

-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['audit_chain', 'audit_heads'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_rows on %I using (tenant_id = (select tenant()) or (select system_scope()))
                        with check (tenant_id = (select tenant()) or (select system_scope()))', t);
    end loop;
end $$;
-- +goose StatementEnd
grant select on audit_chain, audit_heads to patchbay_app;
grant update (checked_at, checked_events, checked_bad) on audit_heads to patchbay_app;

-- The next link. The head's lock makes it one after the other within a tenant, until the transaction ends.
-- +goose StatementBegin
create function audit_link(e audit_events) returns void
    language plpgsql
as $$
declare
    head audit_heads;
    next bytea;
begin
    insert into audit_heads (tenant_id, events, hash) values (e.tenant_id, 0, decode(repeat('00', 32), 'hex')) on conflict do nothing;
    select * into head from audit_heads where tenant_id = e.tenant_id for update;
    next := audit_hash(head.hash, head.events + 1, e);
    insert into audit_chain (tenant_id, n, event_id, hash) values (e.tenant_id, head.events + 1, e.id, next);
    update audit_heads set events = head.events + 1, hash = next where tenant_id = e.tenant_id;
end $$;
-- +goose StatementEnd

-- With the owner's rights: the runtime role writes no link itself.
-- +goose StatementBegin
create function audit_append() returns trigger
    language plpgsql security definer
as $$
begin
    if exists (select from tenants where id = new.tenant_id) then -- not deleted by the same transaction
        perform audit_link(new);
    end if;
    return null;
end $$;
-- +goose StatementEnd
-- Its tables are those of this schema, whatever the session that inserts has of its own.
-- +goose StatementBegin
do $$ begin execute format('alter function audit_append() set search_path = %I, pg_temp', current_schema()); end $$;
-- +goose StatementEnd
revoke all on function audit_append(), audit_link(audit_events) from public;

-- What was recorded before now, in its order.
-- +goose StatementBegin
do $$
declare e audit_events;
begin
    perform set_config('app.system', 'on', true);
    for e in select * from audit_events order by tenant_id, id loop
        perform audit_link(e);
    end loop;
end $$;
-- +goose StatementEnd

-- At the end of the transaction, where no other lock is taken any more: waiting for the head can close no circle. A link that cannot be
-- written refuses the whole transaction, and so the act.
create constraint trigger audit_chained after insert on audit_events
    deferrable initially deferred for each row execute function audit_append();

-- +goose Down
drop trigger audit_chained on audit_events;
drop function audit_append();
drop function audit_link(audit_events);
drop table audit_heads, audit_chain;
drop function audit_hash(bytea, bigint, audit_events);
drop function audit_field(text);
