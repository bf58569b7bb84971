-- +goose Up

-- What a person proves a sign-in with besides the password: the key of one-time codes (RFC 6238), sealed by the installation's key, since a
-- person is in several tenants. confirmed_at: when a code of it was first given; null: it is being set up, and nobody is asked for it.
-- last_step: the time step of the newest code that was accepted; none is accepted twice (RFC 6238, 5.2).
create table second_factors (
    user_id      uuid        not null references users (id) on delete cascade,
    sealed       bytea       not null,
    created_at   timestamptz not null default now(),
    confirmed_at timestamptz,
    last_step    bigint      not null default 0,
    constraint second_factors_pkey primary key (user_id)
);

-- What opens in place of a code, once each. mac: by the installation's key, of the person and the code.
create table recovery_codes (
    user_id uuid        not null references second_factors (user_id) on delete cascade,
    number  smallint    not null,
    mac     bytea       not null,
    used_at timestamptz,
    constraint recovery_codes_pkey primary key (user_id, number),
    constraint recovery_codes_number_few check (number between 1 and 10)
);

-- A tenant sees of its members whether they have one. Only the system writes.
-- +goose StatementBegin
do $$
declare t text;
begin
    foreach t in array array['second_factors', 'recovery_codes'] loop
        execute format('alter table %I enable row level security', t);
        execute format('alter table %I force row level security', t);
        execute format('create policy member_reads on %I for select
            using ((select system_scope()) or user_id in (select memberships.user_id from memberships))', t);
        execute format('create policy system_adds on %I for insert with check ((select system_scope()))', t);
        execute format('create policy system_changes on %I for update using ((select system_scope())) with check ((select system_scope()))', t);
        execute format('create policy system_removes on %I for delete using ((select system_scope()))', t);
        execute format('grant select, insert, update, delete on %I to patchbay_app', t);
    end loop;
end $$;
-- +goose StatementEnd

-- What refuse_retired_key is to tenants' rows.
-- +goose StatementBegin
create function refuse_retired_installation_key() returns trigger
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
create trigger sealed_by_a_living_key before insert or update of sealed on second_factors
    for each row execute function refuse_retired_installation_key();

-- A program that knows nothing of these rows would leave them with a key that is gone.
-- +goose StatementBegin
create or replace function refuse_retiring_wrapping_key() returns trigger
    language plpgsql
as $$
begin
    if exists (select from tenant_keys where substring(tenant_keys.sealed from 1 for 5) = new.prefix) then
        raise exception 'tenants'' keys are sealed by this key';
    end if;
    if exists (select from second_factors where substring(second_factors.sealed from 1 for 5) = new.prefix) then
        raise exception 'second factors are sealed by this key';
    end if;
    return new;
end $$;
-- +goose StatementEnd

-- A member whose sign-in was by a password alone sets a second factor up before anything else of the tenant opens.
alter table tenants add column second_factor_required boolean not null default false;

-- The sign-in was proven by the person's second factor. A session without it is over once there is one: a program from before asks for none.
alter table browser_sessions add column second_factor boolean not null default false;

-- +goose Down
alter table browser_sessions drop column second_factor;
alter table tenants drop column second_factor_required;
-- +goose StatementBegin
create or replace function refuse_retiring_wrapping_key() returns trigger
    language plpgsql
as $$
begin
    if exists (select from tenant_keys where substring(tenant_keys.sealed from 1 for 5) = new.prefix) then
        raise exception 'tenants'' keys are sealed by this key';
    end if;
    return new;
end $$;
-- +goose StatementEnd
drop table recovery_codes;
drop table second_factors;
drop function refuse_retired_installation_key();
