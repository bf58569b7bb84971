package templates

// HealthLine is one aspect of a connector's health.
type HealthLine struct {
	Kind    StateKind
	Icon    string
	Label   string // "Server"
	Text    string // "Answers"
	Details []HealthDetail
	Action  *Link // nil: nothing to do
}

// HealthDetail is a remark on a line: text, a time, or both.
type HealthDetail struct {
	Text string
	When *When
}

// Charts show a connector's recent syncs.
type Charts struct {
	List []Chart
}

// Chart is one period. Its bars are side by side, oldest first.
type Chart struct {
	ID      string // unique on the page
	Title   string // "Last 24 hours"
	Uptime  string // "99.3 %"
	Latency string // "340 ms"
	Said    string // the uptime in a sentence
	Speed   string // the latency in a sentence
	From    string // "24 hours ago"
	ViewBox string // of both pictures
	Up      []Bar
	Slow    []Bar
	Rows    []ChartRow // the same as numbers, without bars that had no sync
}

// BarKind is a bar's colour.
type BarKind string

// The colours of bars.
const (
	BarOK    BarKind = "ok"
	BarBad   BarKind = "bad"
	BarOther BarKind = "other" // calls that were denied or cancelled, or have not ended
	BarNone  BarKind = "none"  // no sync
	BarMean  BarKind = "mean"
	BarMax   BarKind = "max"
)

// Bar is a rectangle, in the units of the picture.
type Bar struct {
	Kind                BarKind
	X, Y, Width, Height string
}

// ChartRow is one bar as numbers.
type ChartRow struct {
	When   When
	OK     string
	Failed string
	Mean   string
	Max    string
}
