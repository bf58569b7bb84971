-- +goose Up

-- Requests and notifications outside MCP that a connector relays.
alter table connectors
    add column methods text[] not null default '{}' check (cardinality(methods) <= 50);

alter table tool_calls drop constraint tool_calls_kind_known;
alter table tool_calls
    add constraint tool_calls_kind_known check (kind in ('tool', 'prompt', 'resource', 'completion', 'method')) not valid;

-- +goose Down
alter table tool_calls drop constraint tool_calls_kind_known;
alter table tool_calls
    add constraint tool_calls_kind_known check (kind in ('tool', 'prompt', 'resource', 'completion')) not valid;
alter table connectors drop column methods;
