-- +goose Up

-- What a member is sent by e-mail, in which language, and up to when notices were considered.
alter table memberships add column mail text not null default 'none';
alter table memberships add column mail_language text not null default 'en';
alter table memberships add column mailed_at timestamptz;
alter table memberships add constraint memberships_mail_known check (mail in ('none', 'approvals', 'all')) not valid;
alter table memberships add constraint memberships_mail_language_form check (mail_language ~ '^[a-z]{2}$') not valid;
create index memberships_mail_idx on memberships (tenant_id, user_id) where mail <> 'none';

-- Links to set a new password, each by the hash of its token.
create table password_resets (
    token_hash bytea       not null,
    user_id    uuid        not null references users (id) on delete cascade,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null,
    constraint password_resets_pkey primary key (token_hash),
    constraint password_resets_token_hash_length check (length(token_hash) = 32)
);
create index password_resets_user_id_idx on password_resets (user_id);
create policy system_rows on password_resets using ((select system_scope())) with check ((select system_scope()));
alter table password_resets enable row level security;
alter table password_resets force row level security;
grant select, insert, update, delete on password_resets to patchbay_app;

-- +goose Down
drop table password_resets;
alter table memberships drop column mail;
alter table memberships drop column mail_language;
alter table memberships drop column mailed_at;
