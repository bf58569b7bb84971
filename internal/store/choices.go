package store

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// MaxToolChoices is how many tools of a connector are shown to choose among.
const MaxToolChoices = 2000

// ToolChoice is a tool to choose.
type ToolChoice struct {
	Name        string
	Review      connectors.Review
	Enabled     bool
	Removed     bool
	Title       string
	Description string // its beginning
	Raw         []byte // the current definition; nil: it is too long to come along
}

// ToolChoices lists the tools of a connector that are there, and those of the named ones that were, by name: [MaxToolChoices] at most.
func (t *Tenant) ToolChoices(ctx context.Context, id connectors.ConnectorID, named []string) ([]ToolChoice, error) {
	rows, err := t.q.ToolChoices(ctx, dbgen.ToolChoicesParams{TenantID: t.id, ConnectorID: id, Named: cleanAll(named), MaxRows: MaxToolChoices})
	if err != nil {
		return nil, err
	}
	choices := make([]ToolChoice, len(rows))
	for i, r := range rows {
		choices[i] = ToolChoice(r)
	}
	return choices, nil
}

// countedCalls is how many of an agent's last calls are looked through.
const countedCalls = 2000

// CallCount is how often an agent called a tool lately.
type CallCount struct {
	AgentID     connectors.AgentID
	ConnectorID connectors.ConnectorID
	Tool        string // the upstream's name
	Calls       int
	Denied      int // of them, by a person
}

// CallCounts counts the calls of tools among the last calls of each agent. Calls that still wait for a person do not count.
func (t *Tenant) CallCounts(ctx context.Context, agents []connectors.AgentID, tools []string) ([]CallCount, error) {
	ids := make([]uuid.UUID, len(agents))
	for i, id := range agents {
		ids[i] = id.UUID
	}
	rows, err := t.q.CallCounts(ctx, dbgen.CallCountsParams{TenantID: t.id, Agents: ids, Depth: countedCalls, Tools: cleanAll(tools)})
	if err != nil {
		return nil, err
	}
	var counts []CallCount
	for _, r := range rows {
		if r.ConnectorID == nil {
			continue // the connector was deleted: another one of that name is another tool
		}
		counts = append(counts, CallCount{
			AgentID: connectors.AgentID{UUID: r.AgentID}, ConnectorID: *r.ConnectorID, Tool: r.Tool, Calls: int(r.Calls), Denied: int(r.Denied),
		})
	}
	return counts, nil
}

// WaitingCall is a call in the inbox, with what is needed to make it.
type WaitingCall struct {
	connectors.Approval
	Call secret.Text
}

// WaitingCalls opens the inbox, the newest first.
func (v *Vault) WaitingCalls(ctx context.Context, p Page) (List[WaitingCall], error) {
	after, err := p.afterID("approvals")
	if err != nil {
		return List[WaitingCall]{}, err
	}
	rows, err := v.q.WaitingApprovals(ctx, v.id, after, p.rows())
	if err != nil {
		return List[WaitingCall]{}, err
	}
	list := listOf(p, rows, func(r dbgen.Approval) dbgen.Approval { return r }, "approvals", func(r dbgen.Approval) []string { return []string{r.ID.String()} })
	opened := List[WaitingCall]{Items: make([]WaitingCall, len(list.Items)), Next: list.Next}
	for i, row := range list.Items {
		plain, err := v.keyring.Open(row.Sealed, approvalPlace(v.id, row.ID, row.AgentID, row.ConnectorID))
		if err != nil {
			return List[WaitingCall]{}, fault.Wrap(fault.Internal, err, "A stored call cannot be opened.")
		}
		opened.Items[i] = WaitingCall{Approval: approvalOf(row), Call: plain}
	}
	return opened, nil
}

// ApprovalAbout is whom and what a call that waits is about.
type ApprovalAbout struct {
	AgentSlug     string
	AgentName     string
	ConnectorSlug string
	ConnectorName string
	Accepted      *connectors.Hash // the definition that agents are served by now; nil: none
	Title         string           // of the tool, as it was when the call was made
	Raw           []byte           // likewise its definition; nil: it is too long to come along
}

// ApprovalsAbout tells of calls that wait, or waited, by their ids. One that is not there is left out.
func (t *Tenant) ApprovalsAbout(ctx context.Context, ids []connectors.ToolCallID) (map[connectors.ToolCallID]ApprovalAbout, error) {
	plain := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		plain[i] = id.UUID
	}
	rows, err := t.q.ApprovalsAbout(ctx, t.id, plain)
	if err != nil {
		return nil, err
	}
	about := make(map[connectors.ToolCallID]ApprovalAbout, len(rows))
	for _, r := range rows {
		a := ApprovalAbout{
			AgentSlug: r.AgentSlug, AgentName: r.AgentName, ConnectorSlug: r.ConnectorSlug, ConnectorName: r.ConnectorName, Title: r.Title, Raw: r.Raw,
		}
		if len(r.AcceptedHash) > 0 {
			a.Accepted = new(connectors.Hash(r.AcceptedHash))
		}
		about[r.ID] = a
	}
	return about, nil
}

// AgentChoice is an agent to choose.
type AgentChoice struct {
	Slug string
	Name string
}

// AgentsGranted lists the enabled agents that were granted a tool, by name: [MaxLimit] at most.
func (t *Tenant) AgentsGranted(ctx context.Context, id connectors.ConnectorID, tool string) ([]AgentChoice, error) {
	rows, err := t.q.AgentsGranted(ctx, dbgen.AgentsGrantedParams{TenantID: t.id, ConnectorID: id, Tool: clean(tool), MaxRows: MaxLimit})
	if err != nil {
		return nil, err
	}
	choices := make([]AgentChoice, len(rows))
	for i, r := range rows {
		choices[i] = AgentChoice(r)
	}
	return choices, nil
}

// CountOf is the count among counts that is of an approval's agent and tool; where there is none, no call was made.
func CountOf(counts []CallCount, a connectors.Approval) CallCount {
	i := slices.IndexFunc(counts, func(c CallCount) bool {
		return c.AgentID == a.AgentID && c.ConnectorID == a.ConnectorID && c.Tool == a.Tool
	})
	if i < 0 {
		return CallCount{}
	}
	return counts[i]
}
