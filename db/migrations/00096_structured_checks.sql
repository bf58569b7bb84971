-- +goose Up

-- Whether a result's structured content fits the output schema of its tool. Null: not checked. structured_error says
-- where it does not fit.
alter table tool_calls
    add column structured_valid boolean,
    add column structured_error text not null default '';

-- Whether the gateway refuses results that do not fit their output schema.
alter table tenants add column refuse_invalid_results boolean not null default false;

-- +goose Down
alter table tenants drop column refuse_invalid_results;
alter table tool_calls
    drop column structured_error,
    drop column structured_valid;
