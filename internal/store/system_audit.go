package store

import (
	"context"
	"time"
)

// MakeAuditMonths creates the missing audit partitions of this month and the next three, and returns their
// number. Rows of the default partition move to them. Any process may call it. It fails if the log is busy for
// two seconds, and can be retried.
func (s *System) MakeAuditMonths(ctx context.Context) (int, error) {
	made, err := s.q.MakeAuditMonths(ctx)
	return int(made), err
}

// AuditMonthsEnd returns the end of the last audit partition that ended before a time; zero: none.
func (s *System) AuditMonthsEnd(ctx context.Context, before time.Time) (time.Time, error) {
	end, err := s.q.AuditMonthsEnd(ctx, before)
	if err != nil || end.Unix() == 0 {
		return time.Time{}, err
	}
	return end.UTC(), nil
}
