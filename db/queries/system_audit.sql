-- Monthly partitions of the audit log. They belong to no tenant.

-- name: MakeAuditMonths :one
select audit_make_months()::int as made;

-- name: AuditMonthsEnd :one
-- The end of the last partition that ended by @before. 'epoch': none did.
select coalesce(max(ends), 'epoch')::timestamptz as ends
from audit_months
where ends <= @before;
