package store

import (
	"context"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// AgentAllowance is an allowance with the slug and name of its connector.
type AgentAllowance struct {
	connectors.Allowance
	Slug    string
	Name    string
	InForce bool // the tool's definition is the one that the person saw, or the prompt is listed
}

// AddAllowance lets an agent call a tool's current definition, or use a prompt or a resource, without approval until a
// time. It fails with NotFound if the grant does not cover it. The tool of one for a prompt or a resource has at most
// [connectors.MaxAllowedItem] bytes.
func (t Calls) AddAllowance(ctx context.Context, agent connectors.AgentID, a connectors.Allowance) error {
	q := dbgen.AddAllowanceParams{
		TenantID: t.id, AgentID: agent, ConnectorID: a.ConnectorID, Kind: string(a.Kind), Tool: cleanText(a.Tool), Until: a.Until, GrantedBy: cleanText(a.GrantedBy),
		AccountID: optionalCredential(a.Account),
	}
	if a.Kind == connectors.CallTool {
		q.DefinitionHash = a.Definition[:]
	}
	n, err := t.q.AddAllowance(ctx, q)
	return t.notifyChange(affectedError(n, err, "grant"), "agent", agent)
}

// Allowances lists an agent's unexpired allowances, by connector slug, tool, kind and account.
func (t Calls) Allowances(ctx context.Context, agent connectors.AgentID, p Page) (List[AgentAllowance], error) {
	const list = "allowances"
	q := dbgen.AgentAllowancesParams{TenantID: t.id, AgentID: agent, MaxRows: p.rowLimit()}
	after, err := p.parseCursor(list, 4)
	if err != nil {
		return List[AgentAllowance]{}, err
	}
	if after != nil {
		q.AfterSlug, q.AfterTool, q.AfterKind, q.AfterAccount = &after[0], &after[1], &after[2], after[3]
	}
	rows, err := t.q.AgentAllowances(ctx, q)
	if err != nil {
		return List[AgentAllowance]{}, err
	}
	return newList(p, rows, toAgentAllowance, list, func(r dbgen.AgentAllowancesRow) []string {
		return []string{r.Slug, r.ToolAllowance.Tool, string(r.ToolAllowance.Kind), r.ToolAllowance.Account}
	}), nil
}

// EndAllowance deletes an allowance and returns it; without an account in k, those of all accounts. It fails with NotFound if there
// is none, or it has expired.
func (t Calls) EndAllowance(ctx context.Context, agent connectors.AgentID, k connectors.AllowanceKey) ([]connectors.Allowance, error) {
	rows, err := t.q.DeleteAllowances(ctx, dbgen.DeleteAllowancesParams{
		TenantID: t.id, AgentID: agent, ConnectorID: k.ConnectorID, Kind: k.Kind, Tool: cleanText(k.Tool), Account: cleanText(k.AccountName),
	})
	if err = affectedError(int64(len(rows)), err, "standing approval"); err != nil {
		return nil, err
	}
	return mapRows(rows, toAllowance), t.notifyChange(nil, "agent", agent)
}

// EndAllowances deletes all allowances of a connector and returns their number.
func (t Calls) EndAllowances(ctx context.Context, id connectors.ConnectorID) (int, error) {
	n, err := t.q.DeleteConnectorAllowances(ctx, t.id, id)
	return int(n), t.notifyChange(err, "connector", id)
}

func toAgentAllowance(r dbgen.AgentAllowancesRow) AgentAllowance {
	return AgentAllowance{Allowance: toAllowance(r.ToolAllowance), Slug: r.Slug, Name: r.Name, InForce: r.InForce}
}

func toAllowance(r dbgen.ToolAllowance) connectors.Allowance {
	a := connectors.Allowance{
		AllowanceKey: connectors.AllowanceKey{ConnectorID: r.ConnectorID, Kind: r.Kind, Tool: r.Tool, AccountName: r.Account}, Until: r.Until.UTC(), GrantedBy: r.GrantedBy,
	}
	copy(a.Definition[:], r.DefinitionHash)
	return a
}

func optionalCredential(id connectors.CredentialID) *uuid.UUID {
	if id == (connectors.CredentialID{}) {
		return nil
	}
	return &id.UUID
}
