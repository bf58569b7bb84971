-- +goose Up

-- tool_list: what tools/list of the agent contains. lean: the pinned tools and a search. auto: lean if the full list is large.
alter table agents add column tool_list text not null default 'full';
alter table agents add constraint agents_tool_list_known check (tool_list in ('full', 'lean', 'auto')) not valid;

-- Tools that stay in a lean list, by the server's names.
alter table agent_grants add column pinned_tools text[] not null default '{}';
alter table agent_grants add constraint agent_grants_pinned_number check (cardinality(pinned_tools) <= 50) not valid;

-- +goose Down
alter table agent_grants drop column pinned_tools;
alter table agents drop column tool_list;
