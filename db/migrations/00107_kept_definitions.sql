-- +goose Up

-- kept: an admin keeps the accepted definition in service, and the server's current one is not asked about again. Of a change:
-- what was decided so.
alter table tools drop constraint tools_review_known;
alter table tools add constraint tools_review_known check (review in ('accepted', 'changed', 'new', 'rejected', 'kept')) not valid;
alter table tool_changes drop constraint tool_changes_state_known;
alter table tool_changes add constraint tool_changes_state_known
    check (state in ('waiting', 'accepted', 'rejected', 'kept', 'automatic', 'superseded')) not valid;
alter table tool_changes drop constraint tool_changes_decided;
alter table tool_changes add constraint tool_changes_decided check ((state in ('accepted', 'rejected', 'kept')) = (decided_at is not null)) not valid;

-- +goose Down
select set_config('app.system', 'on', true);
update tools set review = 'rejected' where review = 'kept';
update tool_changes set state = 'rejected' where state = 'kept';
alter table tools drop constraint tools_review_known;
alter table tools add constraint tools_review_known check (review in ('accepted', 'changed', 'new', 'rejected')) not valid;
alter table tool_changes drop constraint tool_changes_decided;
alter table tool_changes add constraint tool_changes_decided check ((state in ('accepted', 'rejected')) = (decided_at is not null)) not valid;
alter table tool_changes drop constraint tool_changes_state_known;
alter table tool_changes add constraint tool_changes_state_known
    check (state in ('waiting', 'accepted', 'rejected', 'automatic', 'superseded')) not valid;
