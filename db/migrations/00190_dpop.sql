-- +goose Up

-- DPoP (RFC 9449). key_thumbprint: the SHA-256 thumbprint of the holder's key, base64url (RFC 7638); null: not bound. The MACs of bound codes
-- and tokens cover it, so the release before refuses them.
alter table agent_clients add column key_thumbprint text;
alter table agent_clients add column dpop_required boolean not null default false; -- by the client's metadata at its authorization
alter table agent_clients add constraint agent_clients_key_thumbprint_length check (length(key_thumbprint) = 43) not valid;
alter table agent_tokens add column key_thumbprint text;
alter table agent_tokens add constraint agent_tokens_key_thumbprint_length check (length(key_thumbprint) = 43) not valid;
alter table agent_tokens add constraint agent_tokens_of_a_key_bound
    check (key_thumbprint is null or resource is not null and expires_at is not null) not valid;
alter table member_tokens add column key_thumbprint text;
alter table member_tokens add constraint member_tokens_key_thumbprint_length check (length(key_thumbprint) = 43) not valid;
alter table mcp_clients add column dpop_required boolean not null default false; -- dpop_bound_access_tokens (RFC 9449 section 5.2)

-- Proofs that were used, until they expire.
create table used_proofs (
    tenant_id  uuid not null,
    digest     bytea not null, -- SHA-256 of key and jti
    expires_at timestamptz not null,
    constraint used_proofs_pkey primary key (tenant_id, digest),
    constraint used_proofs_tenant_id_fkey foreign key (tenant_id) references tenants (id) on delete cascade,
    constraint used_proofs_digest_length check (octet_length(digest) = 32)
);
create index used_proofs_expires_idx on used_proofs (expires_at);
create policy tenant_rows on used_proofs using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table used_proofs enable row level security;
alter table used_proofs force row level security;
grant select, insert, update, delete on used_proofs to patchbay_app;

-- +goose Down
drop table used_proofs;
alter table mcp_clients drop column dpop_required;
alter table member_tokens drop column key_thumbprint;
alter table agent_tokens drop column key_thumbprint;
alter table agent_clients drop column dpop_required;
alter table agent_clients drop column key_thumbprint;
