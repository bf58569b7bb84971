-- The parts of the audit log, which belong to no tenant.

-- name: MakeAuditMonths :one
select audit_make_months()::int as made;
