-- +goose Up

-- issued_by: the tenant whose owner made the account and chose its first password. Such an account opens that tenant alone and ends with
-- it, so that several accounts may have one e-mail address: one that its person made, and one of each tenant. Null: a person's own account.
-- email stays the unique key. An issued account has it behind its tenant's id and a colon, which no e-mail address holds unquoted;
-- address is the e-mail address of either.
alter table users add column issued_by uuid constraint users_issued_by_fkey references tenants (id) on delete cascade;
alter table users add column address text not null
    generated always as (case when issued_by is null then email else substr(email, 38) end) stored;
create index users_address_idx on users (address);
create index users_issued_by_idx on users (issued_by) where issued_by is not null;
alter table users drop constraint users_email_form;
alter table users add constraint users_email_form
    check (email = lower(email) and address ~ '^[^@\s]+@[^@\s]+$' and length(address) <= 254);
alter table users add constraint users_email_key_form
    check (case when issued_by is null then email !~ '^[0-9a-f-]{36}:' else email = issued_by::text || ':' || address end);

-- Holds for every way to become a member, those of the program before this one included. Members of one tenant have different addresses.
-- +goose StatementBegin
create function check_membership() returns trigger
    language plpgsql
as $$
declare
    person users;
begin
    select users.* into person from users where users.id = new.user_id;
    if person.issued_by <> new.tenant_id then
        raise exception 'the account was issued by another tenant' using errcode = 'check_violation', constraint = 'memberships_of_issuer';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('patchbay member ' || new.tenant_id::text || ' ' || person.address, 0));
    if exists (
        select from memberships
        join users on users.id = memberships.user_id
        where memberships.tenant_id = new.tenant_id and users.address = person.address and users.id <> person.id)
    then
        raise exception 'a member has this address' using errcode = 'unique_violation', constraint = 'memberships_pkey';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger one_address_once after insert or update of tenant_id, user_id on memberships
    for each row execute function check_membership();

-- A tenant sees its members and the accounts that it issued, and changes only these. What a password is checked against, and whom an
-- address belongs to, is the system's to know.
alter table users enable row level security;
alter table users force row level security;
create policy member_reads on users for select
    using ((select system_scope()) or issued_by = (select tenant()) or exists (select from memberships where memberships.user_id = users.id));
create policy issuer_adds on users for insert with check ((select system_scope()) or issued_by = (select tenant()));
create policy issuer_changes on users for update
    using ((select system_scope()) or issued_by = (select tenant()))
    with check ((select system_scope()) or issued_by = (select tenant()));
create policy issuer_removes on users for delete using ((select system_scope()) or issued_by = (select tenant()));

-- +goose Down
drop policy issuer_removes on users;
drop policy issuer_changes on users;
drop policy issuer_adds on users;
drop policy member_reads on users;
alter table users no force row level security;
alter table users disable row level security;
drop trigger one_address_once on memberships;
drop function check_membership();
delete from users where issued_by is not null;
alter table users drop constraint users_email_key_form;
alter table users drop constraint users_email_form;
alter table users add constraint users_email_form check (email = lower(email) and email ~ '^[^@\s]+@[^@\s]+$' and length(email) <= 254);
drop index users_issued_by_idx;
drop index users_address_idx;
alter table users drop column address;
alter table users drop column issued_by;
