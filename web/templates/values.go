package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// When is a formatted time.
type When struct {
	Text  string // "2 minutes ago", "never"
	Title string // the exact time, shown on hover: "21 Nov 2026, 10:12:09 UTC"
	ISO   string // RFC 3339; empty: no time, and Text alone is shown
}

// StateKind is a state's colour. The text beside it is required.
type StateKind string

// The colours of states.
const (
	StateOK   StateKind = "ok"   // green: works
	StateBusy StateKind = "busy" // blue: in progress
	StateWarn StateKind = "warn" // amber: works with a warning
	StateBad  StateKind = "bad"  // red: does not work until a person acts
	StateOff  StateKind = "off"  // grey: unused, or not yet in use
)

// State is a condition in a few words: "Connected", "Syncing, page 2", "Needs authorization".
type State struct {
	Kind StateKind
	Text string
}

// Link is a text that leads to a page.
type Link struct {
	Text string
	Href string
}

// Stat is one figure of a stats strip.
type Stat struct {
	Label string
	Value string
	When  *When // instead of Value, for a time
	Href  string
	Kind  StateKind // empty: no dot
}

// Fact is one line of a description list.
type Fact struct {
	Label string
	Value string
	Mono  bool
	Copy  bool  // with a button to copy Value
	When  *When // instead of Value
	Href  string
	Note  string // beside Value: a name in addresses; empty: none
}

// BadgeKind is a badge's colour.
type BadgeKind string

// The colours of badges.
const (
	BadgePlain BadgeKind = ""
	BadgeGood  BadgeKind = "good" // read-only
	BadgeRisk  BadgeKind = "risk" // destructive
	BadgeWarn  BadgeKind = "warn" // removed, changed, quarantined
)

// Badge is a short remark: "destructive", "read-only", "idempotent", "open world".
type Badge struct {
	Kind  BadgeKind
	Text  string
	Title string // tooltip
}

// Attention is a problem with the link to its repair.
type Attention struct {
	Kind   StateKind // StateWarn or StateBad
	Title  string    // "Needs authorization"
	Said   string    // a server's words; empty: none
	Text   string    // what happened, and what to do; empty: Said says it
	When   *When
	Action *Link
	Send   *Link // a button that posts to the address
}

// Quote is what a server or program said. It is remote text. The zero value shows nothing.
type Quote struct {
	Label string // "Server response"
	Text  string
}

// Pager leads through a long list. The zero value shows nothing.
type Pager struct {
	First    string     // address of the first page; empty: it is this one, or the previous one
	Previous string     // address of the previous page; empty: this is the first
	Next     string     // address of the next page; empty: this is the last
	From, To int        // numbers of the page's first and last row
	Total    int        // rows of the list; 0: not known
	Roughly  bool       // the total is about right
	Least    bool       // there are more than the total
	CSV      string     // the whole list as a file; empty: none
	JSON     string     // likewise
	Sizes    []PageSize // empty: the list fits on one short page
}

// withoutFiles is the pager of a page that offers the files elsewhere.
func (p Pager) withoutFiles() Pager {
	p.CSV, p.JSON = "", ""
	return p
}

// PageSize is a page size in rows.
type PageSize struct {
	Rows    string
	Href    string
	Current bool
}

func (p Pager) isEmpty() bool {
	return p.IsWhole() && p.CSV == "" && len(p.Sizes) == 0
}

// IsWhole reports whether the page has the whole list.
func (p Pager) IsWhole() bool { return p.First == "" && p.Previous == "" && p.Next == "" }

// Rows are the numbers of the page's rows: "51–100".
func (p Pager) Rows(ctx context.Context) string {
	return i18n.Number(ctx, p.From) + "–" + i18n.Number(ctx, p.To)
}

// positionText is the page's place in the list: "51–100 of 303"; empty if it is not known.
func (p Pager) positionText(ctx context.Context) string {
	total := p.Total
	if p.Next == "" {
		total = p.To
	}
	switch {
	case p.To < p.From || p.From == 1 && p.Previous != "":
		return "" // a forged address
	case total == 0:
		return p.Rows(ctx)
	}
	p.Total = total
	if p.Roughly && p.Next != "" {
		return i18n.T(ctx, "%s of about %s", p.Rows(ctx), p.TotalText(ctx))
	}
	return i18n.T(ctx, "%s of %s", p.Rows(ctx), p.TotalText(ctx))
}

// TotalText is the number of rows of the list: "1,000+" if there are more.
func (p Pager) TotalText(ctx context.Context) string {
	if p.Least && p.Next != "" {
		return i18n.Number(ctx, p.Total) + "+"
	}
	return i18n.Number(ctx, p.Total)
}

// Of is the page's place among some things: "51–100 of 303 calls".
func (p Pager) Of(ctx context.Context, things string) string {
	if p.Roughly && p.Next != "" {
		return i18n.T(ctx, "%[1]s of about %[2]s", p.Rows(ctx), things)
	}
	return i18n.T(ctx, "%[1]s of %[2]s", p.Rows(ctx), things)
}

// Heads are the sortable heads of a table by column.
type Heads map[string]Head

// Head links to the table sorted by its column.
type Head struct {
	Href string
	Sort string // "ascending" or "descending"; empty: sorted by another column
}

// Option is one choice of a select.
type Option struct {
	Value string
	Label string
}
