-- +goose Up

-- The keys that seal a tenant's secrets, sealed themselves by the installation's. Whoever deletes the tenant deletes them in the same
-- transaction, and nothing that they have sealed opens again. prefix: how everything begins that the tenant's newest key in use seals.
create table tenant_keys (
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    sealed     bytea       not null,
    prefix     bytea       not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    constraint tenant_keys_pkey primary key (tenant_id),
    constraint tenant_keys_prefix_length check (length(prefix) = 5)
);

-- The tenants' keys that were replaced, as retired_keys has the installation's. Ids are 32 random bits: one tenant's old may be another's new.
create table retired_tenant_keys (
    tenant_id  uuid        not null references tenants (id) on delete cascade,
    prefix     bytea       not null,
    retired_at timestamptz not null default now(),
    constraint retired_tenant_keys_pkey primary key (tenant_id, prefix),
    constraint retired_tenant_keys_prefix_length check (length(prefix) = 5)
);

-- A tenant makes its own key with its first secret, where it has none. Only the system changes one, and retires it.
-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['tenant_keys', 'retired_tenant_keys'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy tenant_reads on %I for select using (tenant_id = (select tenant()) or (select system_scope()))', t);
    end loop;
end $$;
-- +goose StatementEnd
create policy tenant_adds on tenant_keys for insert with check (tenant_id = (select tenant()) or (select system_scope()));
create policy system_changes on tenant_keys for update using ((select system_scope())) with check ((select system_scope()));
create policy system_adds on retired_tenant_keys for insert with check ((select system_scope()));
grant select, insert, update on tenant_keys to patchbay_app;
grant select, insert on retired_tenant_keys to patchbay_app;

-- per_tenant: secrets are sealed by their tenant's key. A rotation sets it, once every process understands it (instances.tenant_keys);
-- a fresh installation begins with it. The programs before this migration do not open what tenants' keys have sealed.
alter table keysets add column per_tenant boolean not null default false;
alter table instances add column tenant_keys boolean not null default false;

-- +goose StatementBegin
create or replace function refuse_retired_key() returns trigger
    language plpgsql
as $$
begin
    perform pg_advisory_xact_lock_shared(hashtextextended('patchbay sealed', 0));
    if exists (select from retired_keys where retired_keys.prefix = substring(new.sealed from 1 for 5))
       or exists (select from retired_tenant_keys r where r.tenant_id = new.tenant_id and r.prefix = substring(new.sealed from 1 for 5)) then
        raise exception 'sealed by a retired key' using errcode = 'PB001';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger sealed_by_a_living_key before insert or update of sealed on tenant_keys
    for each row execute function refuse_retired_key();

-- A program that knows nothing of tenants' keys would leave them with a key that is gone.
-- +goose StatementBegin
create function refuse_retiring_wrapping_key() returns trigger
    language plpgsql
as $$
begin
    if exists (select from tenant_keys where substring(tenant_keys.sealed from 1 for 5) = new.prefix) then
        raise exception 'tenants'' keys are sealed by this key';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger wraps_nothing before insert on retired_keys
    for each row execute function refuse_retiring_wrapping_key();

-- Every process looks at the generation with its heartbeat, and so drops what it has in memory of a tenant that is gone.
-- +goose StatementBegin
create function tell_of_deleted_keys() returns trigger
    language plpgsql
as $$
begin
    update keysets set generation = generation + 1 where purpose = 'seal';
    return null;
end $$;
-- +goose StatementEnd
create trigger deleted_keys_are_told after delete on tenant_keys
    for each statement execute function tell_of_deleted_keys();

-- +goose Down
drop table tenant_keys;
drop function tell_of_deleted_keys();
drop trigger wraps_nothing on retired_keys;
drop function refuse_retiring_wrapping_key();
-- +goose StatementBegin
create or replace function refuse_retired_key() returns trigger
    language plpgsql
as $$
begin
    perform pg_advisory_xact_lock_shared(hashtextextended('patchbay sealed', 0));
    if exists (select from retired_keys where retired_keys.prefix = substring(new.sealed from 1 for 5)) then
        raise exception 'sealed by a retired key' using errcode = 'PB001';
    end if;
    return new;
end $$;
-- +goose StatementEnd
drop table retired_tenant_keys;
alter table instances drop column tenant_keys;
alter table keysets drop column per_tenant;
