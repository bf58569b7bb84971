package templates

// AuditPage lists the audit log.
type AuditPage struct {
	Frame    Frame
	Filter   Form // actor, action, target, since, until
	Actions  []Option
	Rows     []AuditRow
	Count    string
	Filtered bool
	Single   bool // one entry is shown, by its id
	Pager    Pager
	Streams  bool // the person may send the log to receivers
	Verdict  AuditVerdict
	Calls    *AuditVerdict // of call outcomes; nil: none
	Signed   AuditSigned
}

// AuditSigned offers the log and its signature as files.
type AuditSigned struct {
	Entries   string // address of the entries; empty: none
	Signature string // likewise
	Key       []Fact // the public key
}

// AuditVerdict is the result of the last check of the log or of call outcomes.
type AuditVerdict struct {
	State  State
	At     *When  // nil: never checked
	Good   string // "12 entries intact"
	Reason string // what is wrong; empty: nothing
	Place  *Link  // link to the flaw; nil: it cannot be shown
}

// AuditRow is one entry of the audit log.
type AuditRow struct {
	Sentence string // "Ada Keller granted Support bot all tools of Linear"

	At      When
	Actor   string
	Kind    string // "person", "API key"
	Action  string
	Target  string
	Inline  []AuditChange // changed fields that are shown at once
	Changes []AuditChange
	Detail  string // other data, as indented JSON; empty: none
	Request string // the request's id; empty: none
	IP      string // likewise
	Bad     bool   // it was altered
}

// AuditChange is the change of one field.
type AuditChange struct {
	Field         string
	Before, After string
	Had, Has      bool // there was a value; there is one
	Same          bool // both values are equal
}
