-- +goose Up

-- Words by which people group connectors. Agents do not see them.
alter table connectors add column tags text[] not null default '{}';
alter table connectors add constraint connectors_tags_few check (cardinality(tags) <= 20) not valid;

-- +goose Down
alter table connectors drop column tags;
