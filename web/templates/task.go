package templates

// TasksPage lists the calls that their servers run as tasks, the newest first. Its filter sends agent, connector, status and tool to /tasks.
type TasksPage struct {
	Frame      Frame
	Filter     Form
	List       TaskList
	Agents     []Option // with "" for all
	Connectors []Option // likewise
	Statuses   []Option // likewise
}

// TaskList is the part of the page that the event stream renews.
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
	Said   string // the server's word of how far it is; remote text
	Heard  *When  // when the server last changed what it says; nil: it does not tell
	Kept   *When  // until when the server keeps it, while it goes on; nil: it does not tell
	Result bool   // there is something to read
}
