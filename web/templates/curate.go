package templates

// ToolBulk changes several tools of a list. Its buttons send tool (once for each), do and word to Action.
type ToolBulk struct {
	Action   string
	ReturnTo string // the list with its filter
	All      bool   // all tools of the page are checked
	AllHref  string // the page with all tools checked, or none
	Word     string // what was typed
	Problem  string // why nothing was changed; empty: no failure
}

// bulkForm is the id of the form of a list's checkboxes.
const bulkForm = "tools-bulk"

// Curate is the curation of one tool. Its form sends enabled, alias, agent_description, calls_per_minute,
// calls_per_day and tags to Action.
type Curate struct {
	Form    Form
	Action  string
	Name    string // the server's
	Exposed string // the full name that agents see
	Enabled bool
	Can     bool   // the person may change it
	Facts   []Fact // the stored values, for people that may not change them
	Used    []QuotaBar
}
