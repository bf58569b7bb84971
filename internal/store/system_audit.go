package store

import (
	"context"
	"time"
)

// MakeAuditMonths makes the parts of the audit log for this month and the next three, where they are not there, and says how many it made.
// What was added for want of one is moved to where it belongs. Any process may do it at any time; where the log is busy for two seconds it
// fails, and nothing is lost by doing it later.
func (s *System) MakeAuditMonths(ctx context.Context) (int, error) {
	made, err := s.q.MakeAuditMonths(ctx)
	return int(made), err
}

// AuditMonthsEnd is when the last part of the audit log ended that ended before a time; zero: none did.
func (s *System) AuditMonthsEnd(ctx context.Context, before time.Time) (time.Time, error) {
	end, err := s.q.AuditMonthsEnd(ctx, before)
	if err != nil || end.Unix() == 0 {
		return time.Time{}, err
	}
	return end.UTC(), nil
}
