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

// MaxToolChoices bounds the tools of a connector that a form offers.
const MaxToolChoices = 2000

// ToolChoice is a tool that a form offers.
type ToolChoice struct {
	Name        string
	Review      connectors.Review
	Enabled     bool
	Removed     bool
	Title       string
	Description string // beginning only
	Raw         []byte // current definition; nil: too long
}

// ToolChoices lists a connector's tools by name, and removed ones that are named; at most [MaxToolChoices].
func (t Agents) ToolChoices(ctx context.Context, id connectors.ConnectorID, named []string) ([]ToolChoice, error) {
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

// ConnectorTool names a tool of a connector.
type ConnectorTool struct {
	ConnectorID connectors.ConnectorID
	Connector   string // its name
	Tool        string
}

// DestructiveTools lists the tools of connectors that their servers call destructive, by connector; at most
// [MaxToolChoices].
func (t Agents) DestructiveTools(ctx context.Context, ids []connectors.ConnectorID) ([]ConnectorTool, error) {
	rows, err := t.q.DestructiveCandidates(ctx, t.id, connectorUUIDs(ids), MaxToolChoices)
	if err != nil {
		return nil, err
	}
	var tools []ConnectorTool
	for _, r := range rows {
		if r.Raw == nil || connectors.DecodeTool(r.Raw).Hints.Effect() == connectors.EffectDestructive {
			tools = append(tools, ConnectorTool{r.ConnectorID, r.Connector, r.Name})
		}
	}
	return tools, nil
}

// maxCountedCalls bounds the latest calls per agent that are counted.
const maxCountedCalls = 2000

// CallCount counts an agent's recent calls of a tool.
type CallCount struct {
	AgentID     connectors.AgentID
	ConnectorID connectors.ConnectorID
	Tool        string // upstream name
	Calls       int
	Denied      int // of these, denied by a person
}

// CallCounts counts tool calls among each agent's latest calls, without those that wait for approval.
func (t Agents) CallCounts(ctx context.Context, agents []connectors.AgentID, tools []string) ([]CallCount, error) {
	ids := make([]uuid.UUID, len(agents))
	for i, id := range agents {
		ids[i] = id.UUID
	}
	rows, err := t.q.CallCounts(ctx, dbgen.CallCountsParams{TenantID: t.id, Agents: ids, Depth: maxCountedCalls, Tools: cleanAll(tools)})
	if err != nil {
		return nil, err
	}
	var counts []CallCount
	for _, r := range rows {
		if r.ConnectorID == nil {
			continue // the connector was deleted: a new one of that name is another connector
		}
		counts = append(counts, CallCount{
			AgentID: connectors.AgentID{UUID: r.AgentID}, ConnectorID: *r.ConnectorID, Tool: r.Tool, Calls: int(r.Calls), Denied: int(r.Denied),
		})
	}
	return counts, nil
}

// WaitingCall is an open approval with the opened call.
type WaitingCall struct {
	connectors.Approval
	Call secret.Text
}

// WaitingCalls lists open approvals with their calls, newest first.
func (v *Vault) WaitingCalls(ctx context.Context, p Page) (List[WaitingCall], error) {
	after, err := p.afterID("approvals")
	if err != nil {
		return List[WaitingCall]{}, err
	}
	rows, err := v.q.WaitingApprovals(ctx, v.id, after, p.rowLimit())
	if err != nil {
		return List[WaitingCall]{}, err
	}
	list := newList(p, rows, func(r dbgen.Approval) dbgen.Approval { return r }, "approvals", func(r dbgen.Approval) []string { return []string{r.ID.String()} })
	opened := List[WaitingCall]{Items: make([]WaitingCall, len(list.Items)), Next: list.Next}
	for i, row := range list.Items {
		plain, err := v.keyring.Open(row.Sealed, approvalAD(v.id, approvalPlace{row.ID, row.AgentID, row.ConnectorID, row.SealedAccountID}))
		if err != nil {
			return List[WaitingCall]{}, fault.Wrap(fault.Internal, err, "A stored call can't be decrypted.")
		}
		opened.Items[i] = WaitingCall{Approval: toApproval(row), Call: plain}
	}
	return opened, nil
}

// ApprovalAbout describes the agent, connector and tool of an approval.
type ApprovalAbout struct {
	AgentSlug     string
	AgentName     string
	ConnectorSlug string
	ConnectorName string
	Accepted      *connectors.Hash // definition that agents are served now; nil: none
	Title         string           // of the tool when the call was made
	Raw           []byte           // definition when the call was made; nil: too long
	Account       connectors.AccountName
}

// ApprovalsAbout describes approvals by id. Unknown ids are left out.
func (t Agents) ApprovalsAbout(ctx context.Context, ids []connectors.ToolCallID) (map[connectors.ToolCallID]ApprovalAbout, error) {
	plain := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		plain[i] = id.UUID
	}
	rows, err := t.q.ApprovalDetails(ctx, t.id, plain)
	if err != nil {
		return nil, err
	}
	about := make(map[connectors.ToolCallID]ApprovalAbout, len(rows))
	for _, r := range rows {
		a := ApprovalAbout{
			AgentSlug: r.AgentSlug, AgentName: r.AgentName, ConnectorSlug: r.ConnectorSlug, ConnectorName: r.ConnectorName, Title: r.Title, Raw: r.Raw,
			Account: toAccountName(r.AccountAgent, r.AccountName, r.Account, r.Identity),
		}
		if len(r.AcceptedHash) > 0 {
			a.Accepted = new(connectors.Hash(r.AcceptedHash))
		}
		about[r.ID] = a
	}
	return about, nil
}

// AgentChoice is an agent that a form offers.
type AgentChoice struct {
	Slug     string
	Name     string
	Accounts []string // that the grant binds
}

// AgentsGranted lists the enabled agents that were granted a tool, by name; at most [MaxLimit].
func (t Agents) AgentsGranted(ctx context.Context, id connectors.ConnectorID, tool string) ([]AgentChoice, error) {
	rows, err := t.q.AgentsWithTool(ctx, dbgen.AgentsWithToolParams{TenantID: t.id, ConnectorID: id, Tool: cleanText(tool), MaxRows: MaxLimit})
	if err != nil {
		return nil, err
	}
	choices := make([]AgentChoice, len(rows))
	for i, r := range rows {
		choices[i] = AgentChoice{Slug: r.Slug, Name: r.Name, Accounts: grantAccounts(r.Accounts)}
	}
	return choices, nil
}

// CountFor returns the count of an approval's agent and tool, zero if there is none.
func CountFor(counts []CallCount, a connectors.Approval) CallCount {
	i := slices.IndexFunc(counts, func(c CallCount) bool {
		return c.AgentID == a.AgentID && c.ConnectorID == a.ConnectorID && c.Tool == a.Tool
	})
	if i < 0 {
		return CallCount{}
	}
	return counts[i]
}
