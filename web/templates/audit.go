package templates

// AuditPage lists what was done, by whom.
type AuditPage struct {
	Frame    Frame
	Filter   Form // actor, action, target, since, until
	Actions  []Option
	Rows     []AuditRow
	Count    string
	Filtered bool
	Pager    Pager
}

// AuditRow is one entry of the audit log.
type AuditRow struct {
	At      When
	Actor   string
	Kind    string // "person", "API key"
	Action  string
	Target  string
	Detail  string // laid out as JSON; empty: there is none
	Request string // the request's id; empty: none did it
	IP      string // empty likewise
}
