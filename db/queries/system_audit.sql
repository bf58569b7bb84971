-- The parts of the audit log, which belong to no tenant.

-- name: MakeAuditMonths :one
select audit_make_months()::int as made;

-- name: AuditMonthsEnd :one
-- When the last part ended that ended before that time; the beginning of all time: none did.
select coalesce(max(ends), 'epoch')::timestamptz as ends
from audit_months
where ends <= @before;
