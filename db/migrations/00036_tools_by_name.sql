-- +goose Up

-- The tools of all connectors, in the order in which a page lists them: a page reads as many rows as it shows.
create index tools_name_idx on tools (tenant_id, name, connector_id);

-- +goose Down
drop index tools_name_idx;
