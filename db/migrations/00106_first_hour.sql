-- +goose Up

-- A tenant of sample data, which `patchbay seed` made and removes; and when an admin dismissed the checklist of the first
-- steps.
alter table tenants add column sample boolean not null default false;
alter table tenants add column first_steps_dismissed_at timestamptz;

-- +goose Down
alter table tenants drop column first_steps_dismissed_at;
alter table tenants drop column sample;
