-- +goose Up

-- Which prompts and resources of its connector a grant includes. The defaults are what grants included before, and what
-- servers of the previous release serve.
alter table agent_grants
    add column prompts   text not null default 'listed',
    add column resources text not null default 'listed_and_templates';
alter table agent_grants
    add constraint agent_grants_prompts_known check (prompts in ('none', 'listed')) not valid,
    add constraint agent_grants_resources_known check (resources in ('none', 'listed', 'listed_and_templates')) not valid;

-- When the server first listed an item, and when its definition was last another one.
alter table connector_items
    add column first_seen_at timestamptz not null default now(),
    add column changed_at    timestamptz not null default now();

-- Numbers of prompts, resources and templates that a run found, and of the differences. Null: not known.
alter table sync_runs add column item_counts jsonb;

-- +goose Down
alter table sync_runs drop column item_counts;
alter table connector_items
    drop column first_seen_at,
    drop column changed_at;
alter table agent_grants
    drop constraint agent_grants_prompts_known,
    drop constraint agent_grants_resources_known;
alter table agent_grants
    drop column prompts,
    drop column resources;
