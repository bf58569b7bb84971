package store

// SystemPeople is the part of [System] for users of every tenant.
type SystemPeople struct{ *system }

// SystemMail is the part of [System] for e-mail to users of every tenant, and the links in it.
type SystemMail struct{ *system }

// SystemSessions is the part of [System] for sessions and programs of every tenant.
type SystemSessions struct{ *system }

// SystemSyncs is the part of [System] for due syncs, streams and instances.
type SystemSyncs struct{ *system }

// SystemCalls is the part of [System] for calls of every tenant.
type SystemCalls struct{ *system }

// People returns the part for users of every tenant.
func (s *System) People() SystemPeople { return SystemPeople{s.system} }

// Mail returns the part for e-mail to users of every tenant.
func (s *System) Mail() SystemMail { return SystemMail{s.system} }

// Sessions returns the part for sessions and programs of every tenant.
func (s *System) Sessions() SystemSessions { return SystemSessions{s.system} }

// Syncs returns the part for due syncs, streams and instances.
func (s *System) Syncs() SystemSyncs { return SystemSyncs{s.system} }

// Calls returns the part for calls of every tenant.
func (s *System) Calls() SystemCalls { return SystemCalls{s.system} }
