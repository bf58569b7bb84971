package templates

import (
	"context"

	"patchbay/internal/words"
)

// ChangesPage lists the changes of tools, the newest first. Its filter sends connector and state to /changes.
type ChangesPage struct {
	Frame      Frame
	Filter     Form
	List       ChangeList
	Connectors []Option // with "" for all
	States     []Option // with "" for those that wait
}

// ChangeList is the part of the page that the event stream renews.
type ChangeList struct {
	Asset    Assets
	Rows     []ChangeRow
	Count    string // "3 changes"
	Filtered bool
	Cosmetic int  // of the rows, how many wait and no model acts on
	Decides  bool // the person may decide
	Pager    Pager
}

// ChangeRow is one change of a tool, in a list.
type ChangeRow struct {
	Tool          string
	Href          string
	Connector     string // empty: the list is of one tool
	ConnectorHref string
	State         State   // what became of it, or how risky it is while it waits
	Kinds         []Badge // what is different
	Reach         string  // "4 agents · 312 calls in 30 days"
	Seen          When
	Decided       string // "by Ada"; empty: nobody did
}

// ChangePage is about one change of a tool. Its forms send hash to Action + "/accept" and Action + "/reject".
type ChangePage struct {
	Frame     Frame
	Tool      string
	ToolHref  string
	OfServer  bool // the server's instructions changed, and no tool; ToolHref is the server's
	Connector string
	State     State
	Kinds     []Badge
	Reach     string
	Seen      When
	Decided   string
	Warning   *Attention // what to look at twice
	Said      string     // what an admin says of the tool in place of its server; empty: nothing
	Texts     []TextChange
	Rows      []DifferenceRow
	More      string // "12 more differences"; empty: none
	Before    string // the definitions, indented JSON; empty: there is none
	After     string
	History   []ChangeRow
	Pager     Pager

	ReturnTo  string // the list that the person came from
	Action    string
	Hash      string // of the definition that is shown
	Decision  string // what accepting and rejecting do
	CanAccept bool
	CanReject bool
}

// TextChange is a text that changed, with what went and what came.
type TextChange struct {
	Where string // "Description", or the parameter's path
	Parts []TextPart
}

// TextPart is a part of a text.
type TextPart struct {
	Op     string // "kept", "gone" or "come"
	Hidden bool   // characters that nobody sees, by their numbers
	Text   string
}

// DifferenceRow is one difference in a sentence.
type DifferenceRow struct {
	Path     string
	Kind     Badge
	Sentence string
	Before   string
	After    string
}

// historyLabel names the list of past changes.
func historyLabel(ctx context.Context, ofServer bool) string {
	if ofServer {
		return words.T(ctx, "Changes of the instructions")
	}
	return words.T(ctx, "Changes of this tool")
}
