package templates

// ToolBulk is what is done to several tools of a list at once. Its buttons send tool (once for each), do and word to Action.
type ToolBulk struct {
	Action   string
	ReturnTo string // the list with its filter
	All      bool   // every tool of the page is chosen
	AllHref  string // the page with every tool chosen, or with none
	Word     string // what was typed
	Problem  string // why nothing was done; empty: nothing went wrong
}

// bulkForm is the id of the form that the boxes of a list belong to.
const bulkForm = "tools-bulk"

// Curate is what an admin says of one tool towards agents. Its form sends enabled, alias, agent_description,
// calls_per_minute, calls_per_day and tags to Action.
type Curate struct {
	Form    Form
	Action  string
	Name    string // the server's
	Exposed string // the whole name that agents see now
	Can     bool   // the person may change it
	Facts   []Fact // what is said now, for those who may not
	Used    []QuotaBar
}
