-- +goose Up

-- What a person is asked about: a call of a tool, or the use of a prompt or a resource. Then tool is its name or URI.
alter table approvals add column kind text not null default 'tool';
alter table approvals add constraint approvals_kind_known check (kind in ('tool', 'prompt', 'resource')) not valid;

-- The mode always_ask_all asks about prompts and resources too. Agents and grants that are there keep their mode.
alter table agents drop constraint agents_approval_known;
alter table agents add constraint agents_approval_known
    check (approval in ('auto', 'always_ask', 'trusted_only', 'always_ask_all')) not valid;
alter table agent_grants drop constraint agent_grants_approval_known;
alter table agent_grants add constraint agent_grants_approval_known
    check (approval in ('auto', 'always_ask', 'trusted_only', 'always_ask_all')) not valid;
alter table tenants drop constraint tenants_default_approval_known;
alter table tenants add constraint tenants_default_approval_known
    check (default_approval in ('auto', 'always_ask', 'trusted_only', 'always_ask_all')) not valid;

-- +goose Down
select set_config('app.system', 'on', true);
update agents set approval = 'always_ask' where approval = 'always_ask_all';
update agent_grants set approval = 'always_ask' where approval = 'always_ask_all';
update tenants set default_approval = 'always_ask' where default_approval = 'always_ask_all';
alter table agents drop constraint agents_approval_known;
alter table agents add constraint agents_approval_known check (approval in ('auto', 'always_ask', 'trusted_only'));
alter table agent_grants drop constraint agent_grants_approval_known;
alter table agent_grants add constraint agent_grants_approval_known check (approval in ('auto', 'always_ask', 'trusted_only'));
alter table tenants drop constraint tenants_default_approval_known;
alter table tenants add constraint tenants_default_approval_known check (default_approval in ('auto', 'always_ask', 'trusted_only'));
alter table approvals drop column kind;
