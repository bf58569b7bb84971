-- +goose Up

-- Whether agents that share a credential have sessions of their own with a server that keeps state for a session.
alter table connectors add column session_per_agent boolean not null default true;

-- +goose Down
alter table connectors drop column session_per_agent;
