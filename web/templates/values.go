package templates

// When is a time that is ready to show.
type When struct {
	Text  string // "2 minutes ago", "never"
	Title string // the exact time, shown on hover: "21 Nov 2026, 10:12:09 UTC"
	ISO   string // RFC 3339; empty: there is no such time, and Text alone is shown
}

// StateKind gives a state its colour. The word beside it is never left out.
type StateKind string

// The kinds of state.
const (
	StateOK   StateKind = "ok"   // green: works
	StateBusy StateKind = "busy" // blue: at it
	StateWarn StateKind = "warn" // amber: works, needs a look
	StateBad  StateKind = "bad"  // red: does not work until someone acts
	StateOff  StateKind = "off"  // grey: not in use, or not yet
)

// State is a condition in a word or two: "Connected", "Syncing, page 2", "Needs authorization".
type State struct {
	Kind StateKind
	Text string
}

// Link is a way to go.
type Link struct {
	Text string
	Href string
}

// Stat is one figure of a stats strip.
type Stat struct {
	Label string
	Value string
	When  *When // in place of Value, where the figure is a time
	Href  string
	Kind  StateKind // empty: no dot
}

// Fact is one line of a description list.
type Fact struct {
	Label string
	Value string
	Mono  bool
	Copy  bool  // offer to copy Value
	When  *When // in place of Value
	Href  string
}

// BadgeKind gives a badge its colour.
type BadgeKind string

// The kinds of badge.
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
	Title string // an explanation on hover
}

// Attention asks for something to be done: what is the matter, and the way to mend it.
type Attention struct {
	Kind   StateKind // StateWarn or StateBad
	Title  string    // "Needs authorization"
	Text   string    // what happened, and what to do
	When   *When
	Action *Link
}

// Pager leads through a long list. The zero value shows nothing.
type Pager struct {
	First string     // address of the first page; empty: this is it
	Next  string     // address of the next page; empty: this is the last
	CSV   string     // address of the whole list as a file; empty: it becomes none
	JSON  string     // likewise
	Sizes []PageSize // empty: the list is one short page
}

// PageSize is a number of rows that a page may have.
type PageSize struct {
	Rows    string
	Href    string
	Current bool
}

func (p Pager) none() bool { return p.First == "" && p.Next == "" && p.CSV == "" && len(p.Sizes) == 0 }

// Heads are the heads of the columns that a table can be sorted by.
type Heads map[string]Head

// Head leads to the table sorted by its column.
type Head struct {
	Href string
	Sort string // "ascending" or "descending"; empty: by another column
}

// Option is one choice of a select.
type Option struct {
	Value string
	Label string
}
