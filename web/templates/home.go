package templates

// HomePage is where a person begins.
type HomePage struct {
	Frame   Frame
	Welcome bool // there is no connector yet
	Needs   Needs
	Figures Figures
}

// Needs is what waits for a person, a group for each kind, the most urgent first.
type Needs struct {
	Asset  Assets
	Count  string // "7"; empty: nothing waits
	Groups []NeedGroup
}

// NeedGroup is what waits of one kind.
type NeedGroup struct {
	ID    string // unique on the page
	Title string // "Calls wait for approval"
	Icon  string
	Kind  StateKind
	Count string
	All   Link // where all of them stand
	Rows  []NeedRow
}

// NeedRow is one thing that waits, with the one thing to do about it.
type NeedRow struct {
	Name   string
	Mono   bool // Name is a machine's
	Line   string
	Since  string // before When: "asked"
	When   When
	Action Link
}

// Figures is how a stretch of time went.
type Figures struct {
	Title   string // "Last 24 hours"
	Periods []Period
	List    []Figure
	Rows    []FigureRow
	Since   *When // from when on is counted, where somebody began anew; nil: from the beginning
	Resets  bool  // this person may begin anew
}

// Period is a stretch of time to look at.
type Period struct {
	Text    string
	Href    string
	Current bool
}

func (p Period) current() string {
	if p.Current {
		return "page"
	}
	return "false"
}

// Figure is one number with how it came about.
type Figure struct {
	Label string
	Value string
	Note  string
	Href  string
	Said  string // the picture in a sentence
	Spark Spark
}

// Spark is a line over time, with the area below it. The zero value is no picture.
type Spark struct {
	ViewBox string
	Line    string // the path
	Area    string
}

// FigureRow is one part of the stretch, as figures.
type FigureRow struct {
	When   When
	Calls  string
	Failed string
	P95    string
	Tools  string
	Syncs  string
}
