package store

import "context"

// MakeAuditMonths makes the parts of the audit log for this month and the next three, where they are not there, and says how many it made.
// What was added for want of one is moved to where it belongs. Any process may do it at any time; where the log is busy for two seconds it
// fails, and nothing is lost by doing it later.
func (s *System) MakeAuditMonths(ctx context.Context) (int, error) {
	made, err := s.q.MakeAuditMonths(ctx)
	return int(made), err
}
