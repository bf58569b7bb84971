-- +goose Up

-- What a server says of itself to every model is reviewed like the text of a tool. server_instructions is what it says now;
-- accepted_instructions what agents are given in its place while that waits for a person (changed), or after one refused it (rejected).
-- A change is a row of tool_changes without a tool; its definitions are {"instructions": "..."}. What is stored counts as accepted.
alter table connectors
    add column accepted_instructions text,
    add column instructions_review   text not null default 'accepted',
    add constraint connectors_instructions_review_known check (instructions_review in ('accepted', 'changed', 'rejected')),
    add constraint connectors_instructions_held check ((instructions_review = 'accepted') = (accepted_instructions is null));

create trigger say_instructions_change after update of accepted_instructions on connectors
    for each row when (old.accepted_instructions is distinct from new.accepted_instructions)
    execute function say_change('connector', 'tenant_id', 'id');

-- +goose Down
drop trigger say_instructions_change on connectors;
delete from tool_changes where tool = ''; -- no tool has an empty name
alter table connectors drop column instructions_review, drop column accepted_instructions;
