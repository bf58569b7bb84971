-- +goose Up

-- Where an API key is sent: in a header, unless this says otherwise.
alter table connectors add column auth_in text not null default '';
alter table connectors add constraint connectors_auth_in_known check (auth_in in ('', 'query', 'cookie')) not valid;
-- Where an HTTP API is whose document lies elsewhere. Its credentials are sent to this origin only.
alter table connectors add column server_url text not null default '';
-- The scopes of OAuth that a picked operation needs.
alter table api_tools add column scopes text[] not null default '{}';

-- +goose Down
alter table api_tools drop column scopes;
alter table connectors drop column server_url;
alter table connectors drop column auth_in;
