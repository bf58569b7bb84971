-- +goose Up

-- Annotations of a tool that a person set, in place of those that follow from the method.
alter table api_tools add column annotations jsonb;

-- +goose Down
alter table api_tools drop column annotations;
