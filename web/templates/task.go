package templates

// TasksPage lists the calls that run as tasks, newest first. Its filter sends agent, connector, status and tool
// to /tasks.
type TasksPage struct {
	Frame      Frame
	Filter     Form
	List       TaskList
	Agents     []Option // with "" for all
	Connectors []Option // likewise
	Statuses   []Option // likewise
}

// TaskList is the part of the page that the event stream replaces.
type TaskList struct {
	Asset    Assets
	Rows     []TaskRow
	Count    string
	Filtered bool
	Pager    Pager
}

// TaskRow is one task in a list.
type TaskRow struct {
	Call   CallRow
	Said   string // the server's message, remote text, with its numbers
	Heard  *When  // last update by the server; nil: not known
	Kept   *When  // end of the server's ttl, while it runs; nil: not known
	Result bool   // it has a result
}
