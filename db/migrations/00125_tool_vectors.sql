-- +goose Up

-- Embeddings of tool definitions, by the operator's endpoint: a signed byte for each dimension.
create table tool_vectors (
    tenant_id       uuid not null,
    definition_hash bytea not null,
    model           text not null,
    vector          bytea not null,
    constraint tool_vectors_pkey primary key (tenant_id, definition_hash, model),
    constraint tool_vectors_definition_fkey foreign key (tenant_id, definition_hash) references tool_definitions (tenant_id, hash) on delete cascade,
    constraint tool_vectors_model_length check (length(model) between 1 and 200),
    constraint tool_vectors_size check (octet_length(vector) between 1 and 8192)
);
create policy tenant_rows on tool_vectors using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table tool_vectors enable row level security;
alter table tool_vectors force row level security;
grant select, insert, update, delete on tool_vectors to patchbay_app;

-- +goose Down
drop table tool_vectors;
