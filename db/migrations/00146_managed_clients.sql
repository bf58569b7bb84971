-- +goose Up

-- Whether clients sign members in with an identity assertion of the provider (ID-JAG).
alter table sso_settings add column managed_clients boolean not null default false;

-- The client that signs the member in by identity assertions and acts as this agent; null: none.
alter table personal_agents add column client_id text;
alter table personal_agents add constraint personal_agents_client_length check (length(client_id) between 1 and 2048) not valid;
create unique index personal_agents_client_key on personal_agents (tenant_id, user_id, md5(client_id)) where client_id is not null;

-- A subject's members in all tenants.
create index sso_identities_subject_idx on sso_identities (issuer, subject);

-- +goose Down
drop index sso_identities_subject_idx;
alter table personal_agents drop column client_id;
alter table sso_settings drop column managed_clients;
