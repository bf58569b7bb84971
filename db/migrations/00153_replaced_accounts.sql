-- +goose Up

-- A connection may replace the stored account by another one.
alter table oauth_flows add column replaces boolean not null default false;

-- +goose Down
alter table oauth_flows drop column replaces;
