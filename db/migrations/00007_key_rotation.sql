-- +goose Up

-- generation: moves on with every change of the keys, so that running processes see it and read them again.
alter table keysets
    add column generation integer not null default 1,
    add constraint keysets_generation_positive check (generation > 0);

-- keyset_generation: of the sealing keys that the process has read; 0: it knows of no generations.
alter table instances add column keyset_generation integer not null default 0;

-- The sealing keys that are gone, by how everything begins that they sealed (tink's version, and the key's id).
create table retired_keys (
    prefix     bytea       not null,
    retired_at timestamptz not null default now(),
    constraint retired_keys_pkey primary key (prefix),
    constraint retired_keys_prefix_length check (length(prefix) = 5)
);
alter table retired_keys enable row level security;
alter table retired_keys force row level security;
create policy everybody_reads on retired_keys for select using (true);
create policy system_adds on retired_keys for insert with check (system_scope());
grant select, insert on retired_keys to patchbay_app;

-- Refuses what a retired key has sealed: nobody could open it any more. A process that slept through a rotation may still try.
-- Whoever retires a key takes the lock alone: it waits for writers whose rows nobody else sees yet, and holds later ones up.
-- +goose StatementBegin
create function refuse_retired_key() returns trigger
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

-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['credentials', 'client_registrations', 'oauth_flows', 'connector_clients'] loop
        execute format('create trigger sealed_by_a_living_key before insert or update of sealed on %I
                        for each row execute function refuse_retired_key()', t);
    end loop;
end $$;
-- +goose StatementEnd

-- +goose Down
drop trigger sealed_by_a_living_key on credentials;
drop trigger sealed_by_a_living_key on client_registrations;
drop trigger sealed_by_a_living_key on oauth_flows;
drop trigger sealed_by_a_living_key on connector_clients;
drop function refuse_retired_key();
drop table retired_keys;
alter table instances drop column keyset_generation;
alter table keysets drop column generation;
