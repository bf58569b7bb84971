-- +goose Up

-- definition_hash: what the person saw who allowed the tool. A row without one is of before, and allows nothing.
alter table tool_allowances
    add column definition_hash bytea,
    add constraint tool_allowances_definition_hash_length check (length(definition_hash) = 32);

-- task_handle: by which the agent asks for the call's task, sealed to it; a person who cancels the call needs it, too. task is what may be
-- shown of the task, and lacks it.
alter table tool_calls
    add column task_handle text;

-- +goose Down
alter table tool_allowances drop column definition_hash;
alter table tool_calls drop column task_handle;
