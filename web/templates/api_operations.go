package templates

// ConnectorOperationsPage picks operations of an HTTP API. Its form posts q, path, tag, method, state, shown, pick, add, drop,
// do and page to Head.Href + "/operations/select", which shows another part, and to Head.Href + "/operations", which saves.
type ConnectorOperationsPage struct {
	Frame     Frame
	Head      ConnectorHead
	Title     string // of the document; empty: there is none
	Facts     []Fact
	Problem   string // why the document cannot be read, or the selection not be saved
	Filter    Form
	Filtered  bool
	Tags      []Option
	Methods   []Option
	States    []Option
	Rows      []OperationRow
	Count     string // "312 operations"
	SelectAll string // "Select all 312"
	Total     string // "12 of 312 operations · about 4,300 tokens"
	Page      OperationsPart
	Add, Drop []string // what is selected or not on other parts, unlike what is stored
	Endpoints []EndpointRow
}

// OperationsPart is the position in the list. Numbers begin at 1.
type OperationsPart struct {
	Text       string // "51–100 of 312"; empty: all are shown
	Prev, Next string // numbers of parts; empty: none
	PrevHref   string // for people without that permission
	NextHref   string
}

// OperationRow is an operation of the document.
type OperationRow struct {
	Key        string
	Method     string
	Path       string
	Title      string
	Name       string // of the tool
	Tokens     string // empty: it cannot be a tool
	Problem    string // why not
	Deprecated bool
	New        bool
	Picked     bool   // in the selection
	Href       string // of the tool; empty: it is none yet
}

// EndpointRow is an endpoint without a document.
type EndpointRow struct {
	Name   string
	Method string
	URL    string
	Tokens string
	Href   string // of its form
}
