package templates

var auditStreamFieldNames = []string{"name", "kind", "url", "format", "header", "secret", "ca"}

// AuditStreamsPage lists the audit streams. Its form sends name, kind, url, format, header, secret and ca to
// /audit/streams.
type AuditStreamsPage struct {
	Frame   Frame
	Rows    []AuditStreamRow
	Form    Form
	Kinds   []Option
	Formats []Option
	Full    bool // no more may be added
}

// AuditStreamRow is one audit stream.
type AuditStreamRow struct {
	Name      string
	Href      string
	Host      string
	State     State
	Reason    string // of a failure or a pause; empty: none
	Behind    string // "3 records"
	Delivered When
}

// AuditStreamPage shows one audit stream. Its forms post to Href and below it: test, delete.
type AuditStreamPage struct {
	Frame   Frame
	Stream  AuditStreamRow
	Form    Form
	Formats []Option
	Syslog  bool
	Enabled bool
	Gap     string // removed records; empty: none
	GapAt   *When
	Sent    []QuotaBar // of each chain
	Facts   []Fact
}
