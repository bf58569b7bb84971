package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// HomePage is the home page.
type HomePage struct {
	Frame   Frame
	Welcome bool // there is no connector yet
	Steps   FirstSteps
	Needs   Needs
	Answers NeedGroup // the person's requests for access and the answers; no rows: none
	Figures Figures
}

// Needs lists what needs a person, by kind, most urgent first.
type Needs struct {
	Asset  Assets
	Count  string // "7"; empty: none
	Groups []NeedGroup
	Others bool // the person may do none of it
}

func (n Needs) needsTitle(ctx context.Context) string {
	if n.Others {
		return i18n.T(ctx, "Needs attention")
	}
	return i18n.T(ctx, "Needs you")
}

// NeedGroup is the needs of one kind.
type NeedGroup struct {
	ID    string // unique on the page
	Title string // "Calls waiting for approval"
	Icon  string
	Kind  StateKind
	Count string
	All   Link // to the whole list
	Rows  []NeedRow
}

// NeedRow is one need with its action.
type NeedRow struct {
	Mark   Mark
	Name   string
	Mono   bool // Name is a machine's
	Line   string
	Since  string // before When: "asked"
	When   When
	Action Link
}

// Figures are the figures of a period.
type Figures struct {
	Title   string // "Last 24 hours"
	Periods []Period
	List    []Figure
	Rows    []FigureRow
	Since   *When // start of counting after a reset; nil: none
	Resets  bool  // the person may reset the figures
}

// Period is a period to choose.
type Period struct {
	Text    string
	Href    string
	Current bool
}

func (p Period) ariaCurrent() string {
	if p.Current {
		return "page"
	}
	return "false"
}

// Figure is one number with its history.
type Figure struct {
	Label string
	Value string
	Note  string
	Href  string
	Said  string // the picture in a sentence
	Spark Sparkline
}

// Sparkline is a line over time, with the area below it. The zero value is no picture.
type Sparkline struct {
	ViewBox string
	Line    string // the path
	Area    string
}

// FigureRow is one part of the period as numbers.
type FigureRow struct {
	When   When
	Calls  string
	Failed string
	P95    string
	Tools  string
	Syncs  string
}
