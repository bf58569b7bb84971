package templates

// HealthLine is one of the things that tell how a connector is.
type HealthLine struct {
	Kind    StateKind
	Icon    string
	Label   string // "Server"
	Text    string // "Answers"
	Details []HealthDetail
	Action  *Link // nil: nothing is to be done
}

// HealthDetail is a remark on a line: words, a time, or both.
type HealthDetail struct {
	Text string
	When *When
}

// Charts are what came of a connector's syncs lately.
type Charts struct {
	List []Chart
}

// Chart is one period. Its bars stand side by side, the oldest first.
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
	Rows    []ChartRow // the same as figures; those without a sync are left out
}

// BarKind gives a bar its colour.
type BarKind string

// The kinds of bar.
const (
	BarOK   BarKind = "ok"
	BarBad  BarKind = "bad"
	BarNone BarKind = "none" // there was no sync
	BarMean BarKind = "mean"
	BarMax  BarKind = "max"
)

// Bar is a rectangle, in the units of the picture.
type Bar struct {
	Kind                BarKind
	X, Y, Width, Height string
}

// ChartRow is one stretch of a period.
type ChartRow struct {
	When   When
	OK     string
	Failed string
	Mean   string
	Max    string
}
