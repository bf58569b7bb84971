-- +goose Up

-- Which words of agents' searches led to which tools: stems of words that tools have, never whole questions.
create table search_terms (
    tenant_id    uuid not null,
    connector_id uuid not null,
    tool         text not null,
    term         text not null,
    weight       double precision not null,
    learned_at   timestamptz not null default now(),
    constraint search_terms_pkey primary key (tenant_id, term, connector_id, tool),
    constraint search_terms_connector_fkey foreign key (tenant_id, connector_id) references connectors (tenant_id, id) on delete cascade,
    constraint search_terms_tool_length check (octet_length(tool) between 1 and 256),
    constraint search_terms_term_length check (octet_length(term) between 1 and 32),
    constraint search_terms_weight_range check (weight > 0 and weight <= 16)
);
create index search_terms_connector_idx on search_terms (tenant_id, connector_id);
create index search_terms_learned_idx on search_terms (learned_at);
create policy tenant_rows on search_terms using (tenant_id = (select tenant()) or (select system_scope()))
    with check (tenant_id = (select tenant()) or (select system_scope()));
alter table search_terms enable row level security;
alter table search_terms force row level security;
grant select, insert, update, delete on search_terms to patchbay_app;

-- +goose Down
drop table search_terms;
