package connectors

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"patchbay/internal/toolchange"
)

// ChangeState says what became of a tool change.
type ChangeState string

// The states of a tool change.
const (
	ChangeWaiting    ChangeState = "waiting"    // for a person
	ChangeAccepted   ChangeState = "accepted"   // by a person
	ChangeRejected   ChangeState = "rejected"   // by a person
	ChangeAutomatic  ChangeState = "automatic"  // the policy took it, or the tool is gone
	ChangeSuperseded ChangeState = "superseded" // the server changed the tool again before anybody decided
)

// ToolChange is one change of a tool's definition, or of the server's instructions, as a sync met it.
type ToolChange struct {
	ID            ToolChangeID
	ConnectorID   ConnectorID
	ConnectorSlug string
	ConnectorName string
	Tool          string     // OfInstructions: the server's instructions
	SyncRunID     *SyncRunID // nil: it waited already when changes began to be kept
	SeenAt        time.Time
	Before        *Hash             // the definition that agents were served; nil: none
	After         *Hash             // nil: removed
	Kinds         []toolchange.Kind // empty: it waited already when changes began to be kept
	Risk          toolchange.Risk
	State         ChangeState
	DecidedBy     string // may be empty
	DecidedAt     *time.Time
	Agents        int // that were granted the tool
	Calls         int // of the tool in the last 30 days
}

// ChangeWrite is a change that a sync puts on record.
type ChangeWrite struct {
	Tool   string
	Before *Hash
	After  *Hash
	Kinds  []toolchange.Kind
	Risk   toolchange.Risk
	State  ChangeState // waiting, or automatic
}

// Waiting are the changes of a sync that wait for a person.
func (d ToolDiff) Waiting() []ChangeWrite {
	var waiting []ChangeWrite
	for _, c := range d.Changes {
		if c.State == ChangeWaiting {
			waiting = append(waiting, c)
		}
	}
	return waiting
}

// ToolChangeNotice says that changes of a connector's tools, or of its instructions, wait for a person.
func ToolChangeNotice(c ConnectorName, waiting []ChangeWrite) NewNotice {
	n := NewNotice{
		Kind:  NoticeToolChange,
		Title: fmt.Sprintf("%d tools of %s wait for a decision", len(waiting), c.Name),
		Body:  "The server changed them. Agents are served the definitions from before, and calls are refused until an admin has looked.",
		Link:  "/changes",
		Key:   "tool_change " + c.ID.String(),
	}
	tools, kinds, instructions := []string{}, []toolchange.Kind{}, false
	risk := toolchange.None
	for _, w := range waiting {
		kinds = append(kinds, w.Kinds...)
		if w.Tool == OfInstructions {
			instructions = true
		} else if len(tools) < mostNamed {
			tools = append(tools, w.Tool)
		}
		if w.Risk == toolchange.High || risk == toolchange.None {
			risk = w.Risk
		}
	}
	switch {
	case instructions && len(waiting) == 1:
		n.Title = "The instructions of " + c.Name + " wait for a decision"
		n.Body = "The server changed what it tells agents. They are given what was accepted before, until an admin has looked."
		n.Link = c.path() + "/instructions/changes"
	case instructions:
		n.Title = fmt.Sprintf("%d changes of %s wait for a decision", len(waiting), c.Name)
		n.Body = "The server changed tools, and what it tells agents. They are served what was accepted before, and calls are refused until an admin has looked."
	case len(waiting) == 1:
		n.Title = fmt.Sprintf("The tool %s of %s waits for a decision", tools[0], c.Name)
		n.Body = "The server changed it, or it is new. Agents are served what was accepted before, and calls are refused until an admin has looked."
		n.Link = c.path() + "/tools/" + url.PathEscape(tools[0]) + "/changes"
	}
	slices.Sort(kinds)
	n.Data = c.data(map[string]any{
		"tools": tools, "instructions": instructions, "waiting": len(waiting), "risk": string(risk), "kinds": slices.Compact(kinds),
	})
	return n
}

// mostNamed are the tools that a notice names.
const mostNamed = 20
