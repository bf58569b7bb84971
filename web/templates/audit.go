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
	Calls    *AuditVerdict // of how calls ended; nil: there is nothing to say
	Signed   AuditSigned
}

// AuditSigned offers the log as a file with a signature.
type AuditSigned struct {
	Entries   string // the address of the entries; empty: there is none
	Signature string // empty likewise
	Key       []Fact // that checks the signature
}

// AuditVerdict is what the last check of the log, or of how calls ended, found.
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
	Changes []AuditChange
	Detail  string // what else is known, laid out as JSON; empty: there is none
	Request string // the request's id; empty: none did it
	IP      string // empty likewise
	Bad     bool   // it is not as it was recorded
}

// AuditChange is what an act made of one field.
type AuditChange struct {
	Field         string
	Before, After string
	Had, Has      bool // there was something, there is
	Same          bool // the act put the same there again
}
