-- +goose Up

-- How far a call is, as its server said last: {"progress":3,"total":10,"message":"copying"}. What it said in words is kept as contents are.
alter table tool_calls add column progress bytea;

-- +goose Down
alter table tool_calls drop column progress;
