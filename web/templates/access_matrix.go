package templates

// AccessMatrixPage shows which agent may use which connector. Its filter sends agent, connector and tag.
type AccessMatrixPage struct {
	Frame          Frame
	Filter         Form
	Tags           []Option // empty: there are no tags
	Filtered       bool
	Columns        []MatrixColumn
	Rows           []MatrixRow
	AgentPager     Pager
	ConnectorPager Pager
}

// MatrixColumn is a connector.
type MatrixColumn struct {
	Name string
	Href string
}

// MatrixRow is an agent with a cell for each column.
type MatrixRow struct {
	Name  string
	Href  string
	Cells []MatrixCell
}

// MatrixKind is how much an agent may use.
type MatrixKind string

// The kinds of cells.
const (
	MatrixAll  MatrixKind = "all"
	MatrixSome MatrixKind = "some"
	MatrixNone MatrixKind = "none"
)

// MatrixCell links to a grant.
type MatrixCell struct {
	Kind  MatrixKind
	Text  string // "All", "3", "–"
	Label string // "Support bot, Linear: 3 of 23 tools"
	Href  string
}
