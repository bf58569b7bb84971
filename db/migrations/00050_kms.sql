-- +goose Up

-- What PATCHBAY_KEYSET would say, wrapped by a KMS: where it names the KMS in place of the key. Nothing but that KMS opens it.
create table kms_keys (
    uri        text        not null,
    wrapped    bytea       not null,
    created_at timestamptz not null default now(),
    constraint kms_keys_pkey primary key (uri),
    constraint kms_keys_uri_names_a_kms check (uri ~ '^(aws-kms|hcvault)://')
);
alter table kms_keys enable row level security;
alter table kms_keys force row level security;
create policy system_rows on kms_keys using ((select system_scope())) with check ((select system_scope()));
grant select, insert, delete on kms_keys to patchbay_app;

-- moving: the same keys, wrapped by what PATCHBAY_KEYSET is to be next. Both open the database until no process runs with the one before.
alter table keysets add column moving bytea;

-- kek: which key a process has from PATCHBAY_KEYSET, by a digest; null: it does not say.
alter table instances add column kek bytea;

-- A program that knows nothing of the second copy, or has not seen it yet, would leave it with keys that are not the stored ones any more.
-- +goose StatementBegin
create function keep_both_copies() returns trigger
    language plpgsql
as $$
begin
    if old.moving is not null and new.moving is not distinct from old.moving and new.wrapped <> old.wrapped then
        raise exception 'these keys are being moved to another PATCHBAY_KEYSET' using errcode = 'PB002';
    end if;
    return new;
end $$;
-- +goose StatementEnd
create trigger both_copies_are_one before update on keysets
    for each row execute function keep_both_copies();

-- +goose Down
drop trigger both_copies_are_one on keysets;
drop function keep_both_copies();
alter table instances drop column kek;
alter table keysets drop column moving;
drop table kms_keys;
