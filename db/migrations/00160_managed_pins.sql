-- +goose Up

-- The authorization server to which members' identities for the connector go; empty: none yet.
alter table connectors add column managed_issuer text not null default '';
-- The connectors whose accounts a person has disconnected: a managed account does not return by itself.
alter table personal_agents add column disconnected uuid[] not null default '{}';

-- +goose Down
alter table personal_agents drop column disconnected;
alter table connectors drop column managed_issuer;
