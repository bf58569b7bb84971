package templates

// AuditPage lists what was done, by whom.
type AuditPage struct {
	Frame    Frame
	Filter   Form // actor, action, target, since, until
	Actions  []Option
	Rows     []AuditRow
	Count    string
	Filtered bool
	Single   bool // one entry is shown, by its id
	Pager    Pager
	Verdict  AuditVerdict
}

// AuditVerdict is what the last check of the log found.
type AuditVerdict struct {
	State  State
	At     *When  // nil: it was never checked
	Good   string // "12 entries are good"
	Reason string // what is wrong; empty: nothing
	Place  *Link  // to where it is; nil: nowhere that can be shown
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
	Bad     bool   // it is not as it was recorded
}
