package connectors

import (
	"fmt"
	"net/url"
	"slices"
	"time"

	"patchbay/internal/toolchange"
)

// ChangeState is the state of a tool change.
type ChangeState string

// The states of a tool change.
const (
	ChangeWaiting    ChangeState = "waiting"    // for review
	ChangeAccepted   ChangeState = "accepted"   // by a person
	ChangeRejected   ChangeState = "rejected"   // by a person
	ChangeKept       ChangeState = "kept"       // by a person: the definition before it stays in service
	ChangeAutomatic  ChangeState = "automatic"  // accepted by policy, or the tool was removed
	ChangeSuperseded ChangeState = "superseded" // changed again before a decision
)

// IsDecidable reports whether an admin may still decide a tool's newest change.
func (s ChangeState) IsDecidable() bool {
	return s == ChangeWaiting || s == ChangeRejected || s == ChangeKept
}

// ToolChange is a change of a tool's definition or of the server's instructions, found by a sync.
type ToolChange struct {
	ID            ToolChangeID
	ConnectorID   ConnectorID
	ConnectorSlug string
	ConnectorName string
	Tool          string     // InstructionsTool: the server's instructions
	SyncRunID     *SyncRunID // nil: older than the record of changes
	SeenAt        time.Time
	Before        *Hash             // the served definition; nil: none
	After         *Hash             // nil: removed
	Kinds         []toolchange.Kind // empty: older than the record of changes
	Risk          toolchange.Risk
	State         ChangeState
	DecidedBy     string // optional
	DecidedAt     *time.Time
	Agents        int // with a grant
	Calls         int // in the last 30 days
}

// ServedDefinition is a definition that agents were served.
type ServedDefinition struct {
	Hash   Hash
	SeenAt *time.Time // when the server first had it; nil: in the first sync
}

// unkeepableKinds exclude calls under the definition before a change: the server may be hostile, or the tool do more than its hints
// said when agents were granted it.
var unkeepableKinds = []toolchange.Kind{toolchange.HiddenText, toolchange.InstructionLike, toolchange.Shadows, toolchange.AnnotationRiskier}

// CanKeep reports whether the definition before a change may stay in service. Calls then reach the server's new code, so that
// it may not if the change looks like an attack, or has riskier hints. Unknown kinds may not either.
func CanKeep(kinds []toolchange.Kind) bool {
	return len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k toolchange.Kind) bool { return slices.Contains(unkeepableKinds, k) })
}

// ChangeWrite is a change to be recorded.
type ChangeWrite struct {
	Tool   string
	Before *Hash
	After  *Hash
	Kinds  []toolchange.Kind
	Risk   toolchange.Risk
	State  ChangeState // waiting, or automatic
}

// Waiting returns the changes that wait for review.
func (d ToolDiff) Waiting() []ChangeWrite {
	var waiting []ChangeWrite
	for _, c := range d.Changes {
		if c.State == ChangeWaiting {
			waiting = append(waiting, c)
		}
	}
	return waiting
}

// ToolChangeNotice is the notice of changes that wait for review.
func ToolChangeNotice(c ConnectorName, waiting []ChangeWrite) NewNotice {
	n := NewNotice{
		Kind:  NoticeToolChange,
		Title: fmt.Sprintf("%d tools to review in %s", len(waiting), c.Name),
		Body:  "Until reviewed, agents see the old versions and calls are refused.",
		Link:  "/changes",
		Key:   "tool_change " + c.ID.String(),
	}
	tools, skills, kinds, instructions := []string{}, []string{}, []toolchange.Kind{}, false
	risk := toolchange.None
	for _, w := range waiting {
		kinds = append(kinds, w.Kinds...)
		if w.Tool == InstructionsTool {
			instructions = true
		} else if uri, isSkill := SkillOfTool(w.Tool); isSkill {
			skills = append(skills, uri)
		} else if len(tools) < maxNamedTools {
			tools = append(tools, w.Tool)
		}
		if w.Risk == toolchange.High || risk == toolchange.None {
			risk = w.Risk
		}
	}
	switch {
	case instructions && len(waiting) == 1:
		n.Title = "Instructions to review in " + c.Name
		n.Body = "Until reviewed, agents keep the accepted instructions."
		n.Link = c.dashboardPath() + "/instructions/changes"
	case len(skills) == len(waiting):
		n.Title, n.Key = fmt.Sprintf("%d skills to review in %s", len(skills), c.Name), "skill_change "+c.ID.String()
		n.Body = "Until reviewed, agents get the accepted versions of the files, and nothing else."
	case instructions:
		n.Title = fmt.Sprintf("%d changes to review in %s", len(waiting), c.Name)
		n.Body = "The server changed tools and instructions. Until reviewed, agents keep the accepted versions and calls are refused."
	case len(waiting) == 1:
		n.Title = fmt.Sprintf("%s to review in %s", tools[0], c.Name)
		n.Body = "It's new or changed. Until reviewed, agents see the accepted version and calls are refused."
		n.Link = c.dashboardPath() + "/tools/" + url.PathEscape(tools[0]) + "/changes"
	}
	slices.Sort(kinds)
	n.Data = c.noticeData(map[string]any{
		"tools": tools, "skills": skills[:min(len(skills), maxNamedTools)], "instructions": instructions, "waiting": len(waiting), "risk": string(risk), "kinds": slices.Compact(kinds),
	})
	return n
}

const maxNamedTools = 20
