-- +goose Up

-- What the history keeps of a result is mostly text, which the program packs before it sends it: content and structured in one, as
-- internal/store/packed.go says, in place of these two columns. It is not tried to be packed once more.
alter table tool_calls add column packed bytea;
alter table tool_calls alter column packed set storage external;

-- +goose Down
alter table tool_calls drop column packed;
