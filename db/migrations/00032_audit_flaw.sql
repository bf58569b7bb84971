-- +goose Up

-- What the last check found, so that the page can name it and lead there: what is wrong at checked_bad, the entry that is there (null:
-- none), and the last one before it that is as it was recorded (null: none).
alter table audit_heads
    add column checked_reason text,
    add column checked_event  uuid,
    add column checked_last   uuid;
grant update (checked_reason, checked_event, checked_last) on audit_heads to patchbay_app;

-- +goose Down
alter table audit_heads
    drop column checked_reason,
    drop column checked_event,
    drop column checked_last;
