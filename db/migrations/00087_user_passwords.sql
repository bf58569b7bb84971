-- +goose Up

-- The hashes of people's passwords. A sign-in reads them in the system's scope; no tenant reads any, not even its members'.
create table user_passwords (
    user_id uuid not null,
    hash    text not null,
    constraint user_passwords_pkey primary key (user_id),
    constraint user_passwords_user_fkey foreign key (user_id) references users (id) on delete cascade,
    constraint user_passwords_hash_filled check (hash <> '')
);
alter table user_passwords enable row level security;
alter table user_passwords force row level security;
create policy system_rows on user_passwords using ((select system_scope())) with check ((select system_scope()));
create policy issuer_adds on user_passwords for insert
    with check (exists (select from users where users.id = user_passwords.user_id and users.issued_by = (select tenant())));
grant select, insert, update, delete on user_passwords to patchbay_app;

-- Reports to a tenant whether one of its members has a password.
-- +goose StatementBegin
create function has_password(person uuid) returns boolean
    language plpgsql
as $$
declare
    scope constant text := coalesce(current_setting('app.system', true), '');
    found boolean;
begin
    perform set_config('app.system', 'on', true);
    found := exists (
        select from user_passwords
        join memberships on memberships.user_id = user_passwords.user_id
        where user_passwords.user_id = person and memberships.tenant_id = tenant());
    perform set_config('app.system', scope, true);
    return found;
end $$;
-- +goose StatementEnd

-- users.password_hash is for servers of the release before, and goes with the next release. It has the hashes only while such a server runs,
-- which instances.user_passwords tells: each of its beats fills the column, and the end of the last one empties it. Whatever writes instances
-- or an account's password has the system's scope.
alter table instances add column user_passwords boolean not null default false;

-- +goose StatementBegin
create function show_password_hashes() returns trigger
    language plpgsql
as $$
begin
    update users
    set password_hash = user_passwords.hash
    from user_passwords
    where user_passwords.user_id = users.id and users.issued_by is null and users.password_hash is distinct from user_passwords.hash;
    return null;
end $$;

create function hide_password_hashes() returns trigger
    language plpgsql
as $$
begin
    if not exists (select from instances where not instances.user_passwords) then
        update users set password_hash = null where users.password_hash is not null;
    end if;
    return null;
end $$;

-- Stores what a server of the release before writes. An account that has a password keeps it where only a missing one was to be filled in:
-- then password_set_at stays as it is, and the column was empty.
create function store_password_hash() returns trigger
    language plpgsql
as $$
begin
    if tg_op = 'UPDATE' and new.password_hash = old.password_hash then
        return null;
    elsif tg_op = 'UPDATE' and old.password_hash is null and new.password_set_at = old.password_set_at then
        insert into user_passwords (user_id, hash) values (new.id, new.password_hash) on conflict on constraint user_passwords_pkey do nothing;
    else
        insert into user_passwords (user_id, hash) values (new.id, new.password_hash)
        on conflict on constraint user_passwords_pkey do update set hash = excluded.hash;
    end if;
    return null;
end $$;
-- +goose StatementEnd

create trigger show_password_hashes after insert or update on instances
    for each row when (not new.user_passwords) execute function show_password_hashes();
create trigger hide_password_hashes after delete on instances
    for each statement execute function hide_password_hashes();
create trigger store_password_hash after insert or update of password_hash on users
    for each row when (new.password_hash is not null and pg_trigger_depth() = 0) execute function store_password_hash();

select set_config('app.system', 'on', true);
insert into user_passwords (user_id, hash) select users.id, users.password_hash from users where users.password_hash <> '';
update users set password_hash = null
where users.password_hash is not null and not exists (select from instances where not instances.user_passwords);

-- +goose Down
select set_config('app.system', 'on', true);
drop trigger store_password_hash on users;
drop trigger hide_password_hashes on instances;
drop trigger show_password_hashes on instances;
update users set password_hash = user_passwords.hash from user_passwords where user_passwords.user_id = users.id;
drop function store_password_hash();
drop function hide_password_hashes();
drop function show_password_hashes();
alter table instances drop column user_passwords;
drop function has_password(uuid);
drop table user_passwords;
