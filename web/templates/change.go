package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// ChangesPage lists the changes of tools, newest first. Its filter sends connector and state to /changes.
type ChangesPage struct {
	Frame      Frame
	Filter     Form
	List       ChangeList
	Connectors []Option // with "" for all
	States     []Option // with "" for waiting ones
}

// ChangeList is the part of the page that the event stream replaces.
type ChangeList struct {
	Asset    Assets
	Rows     []ChangeRow
	Count    string // "3 changes"
	Filtered bool
	Cosmetic int  // number of waiting rows that do not affect models
	Decides  bool // the person may decide
	Pager    Pager
	Bulk     *ChangeBulk // nil: no row can be decided here
}

// ChangeBulk decides several changes of a list. Its buttons send change (once for each) and do to /changes/decide.
type ChangeBulk struct {
	ReturnTo string
	All      bool   // all rows are checked
	AllHref  string // checks all, or none
	Risky    bool   // one of the rows is high risk: Accept is not the primary button
}

func (b ChangeBulk) acceptVariant() string {
	if b.Risky {
		return "outline"
	}
	return "primary"
}

// ChangeRow is one tool change in a table.
type ChangeRow struct {
	Tool          string
	Href          string
	Connector     string // empty in the list of one tool
	Mark          Mark   // of the connector
	ConnectorHref string
	State         State   // the decision, or the risk while it waits
	Kinds         []Badge // kinds of differences
	Reach         string  // "4 agents · 312 calls in 30 days"
	Seen          When
	Decided       string // "by Ada"; empty: not decided
	Verdict       string // value of the checkbox; empty: none
	Chosen        bool
}

// ChangePage shows one change of a tool. Its forms send hash to Action and the decision: "/accept", "/reject", "/keep",
// "/restore",
// "/withdraw".
type ChangePage struct {
	Frame     Frame
	Tool      string
	ToolHref  string
	OfSkill   bool // a skill changed; ToolHref is the list of skills
	OfServer  bool // the server's instructions changed; ToolHref is the server's
	Connector string
	State     State
	Kinds     []Badge
	Reach     string
	Seen      When
	Decided   string
	Warning   *Attention
	Said      string // the admin's text that replaces the server's; empty: none
	Texts     []TextChange
	Rows      []DifferenceRow
	More      string // "12 more differences"; empty: none
	Before    string // the definition before, as indented JSON; empty: none
	After     string
	History   []ChangeRow
	Pager     Pager

	ReturnTo  string // the list that the person came from
	Action    string
	Hash      string // of the shown definition
	Decision  string // what the buttons do
	CanAccept bool
	CanReject bool
	CanKeep   bool
	Accepting *AskPage        // asks before a risky definition is accepted; nil: no question
	Earlier   *EarlierVersion // nil: none to go back to
	Withdraw  string          // hash of the version of a skill that agents get and an admin may withdraw; empty: none
}

// EarlierVersion is a definition that agents had before.
type EarlierVersion struct {
	Hash string
	Text string // of the button: "Go back to the version of 02:44"
}

// TextChange is the diff of a text.
type TextChange struct {
	Where string // "Description", or the parameter's path
	Parts []TextPart
}

// TextPart is a part of a text.
type TextPart struct {
	Op     string // "kept", "gone" or "come"
	Hidden bool   // invisible characters, as code points
	Text   string
}

// DifferenceRow is one difference, as a sentence.
type DifferenceRow struct {
	Path     string
	Kind     Badge
	Sentence string
	Before   string
	After    string
}

// historyLabel labels the list of past changes.
func historyLabel(ctx context.Context, ofServer bool) string {
	if ofServer {
		return i18n.T(ctx, "Instruction changes")
	}
	return i18n.T(ctx, "Tool changes")
}
