package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// AccessRequests is the part for requests for access.
type AccessRequests struct{ *tenant }

// AccessRequests returns the part for requests for access.
func (t *Tenant) AccessRequests() AccessRequests { return AccessRequests{t.tenant} }

// RequestedAccess is a request with the names of its agent and connector.
type RequestedAccess struct {
	connectors.AccessRequest
	Agent     connectors.AgentName
	Connector connectors.ConnectorName
}

// Create stores an open request. A second one of the same asker for the agent and the connector is a Conflict.
func (t AccessRequests) Create(ctx context.Context, r connectors.AccessRequest) (connectors.AccessRequestID, error) {
	id := connectors.AccessRequestID{UUID: newID()}
	err := t.q.CreateAccessRequest(ctx, dbgen.CreateAccessRequestParams{
		TenantID: t.id, ID: id, AgentID: r.AgentID, ConnectorID: r.ConnectorID, AllTools: r.AllTools, Tools: cleanAll(r.Tools),
		Reason: cleanText(r.Reason), Until: r.Until, Asker: r.Asker, AskedBy: cleanText(r.AskedBy),
	})
	return id, err
}

// CountOpen counts the open requests of the tenant, and those of one asker.
func (t AccessRequests) CountOpen(ctx context.Context, asker uuid.UUID) (open, own int, err error) {
	row, err := t.q.CountOpenAccessRequests(ctx, asker, t.id)
	return int(row.Open), int(row.Own), err
}

// Get returns a request.
func (t AccessRequests) Get(ctx context.Context, id connectors.AccessRequestID) (RequestedAccess, error) {
	row, err := t.q.AccessRequest(ctx, t.id, id)
	if err != nil {
		return RequestedAccess{}, rowError(err, "request")
	}
	return toRequestedAccess(row), nil
}

// AccessRequestFilter selects requests. The zero value selects all.
type AccessRequestFilter struct {
	State connectors.AccessRequestState // empty: any
	Asker *uuid.UUID                    // nil: any
	Page
}

// List lists requests, newest first.
func (t AccessRequests) List(ctx context.Context, f AccessRequestFilter) (List[RequestedAccess], error) {
	before, err := f.afterID("access_requests")
	if err != nil {
		return List[RequestedAccess]{}, err
	}
	rows, err := t.q.AccessRequests(ctx, dbgen.AccessRequestsParams{
		TenantID: t.id, State: cleanText(string(f.State)), Asker: f.Asker, BeforeID: before, MaxRows: f.rowLimit(),
	})
	if err != nil {
		return List[RequestedAccess]{}, err
	}
	item := func(r dbgen.AccessRequestsRow) RequestedAccess { return toRequestedAccess(dbgen.AccessRequestRow(r)) }
	return newList(f.Page, rows, item, "access_requests", func(r dbgen.AccessRequestsRow) []string { return []string{r.AccessRequest.ID.String()} }), nil
}

// AccessDecision ends an open request.
type AccessDecision struct {
	State connectors.AccessRequestState
	By    string
	Note  string
}

// Decide ends an open request. One that has ended is a Conflict.
func (t AccessRequests) Decide(ctx context.Context, id connectors.AccessRequestID, d AccessDecision) error {
	n, err := t.q.DecideAccessRequest(ctx, dbgen.DecideAccessRequestParams{
		State: string(d.State), DecidedBy: cleanText(d.By), Note: cleanText(d.Note), TenantID: t.id, ID: id,
	})
	if err != nil || n > 0 {
		return err
	}
	if _, err := t.Get(ctx, id); err != nil {
		return err
	}
	return fault.Errorf(fault.Conflict, "This request was already decided or withdrawn.")
}

func toRequestedAccess(r dbgen.AccessRequestRow) RequestedAccess {
	a := r.AccessRequest
	return RequestedAccess{
		AccessRequest: connectors.AccessRequest{
			ID: a.ID, AgentID: a.AgentID, ConnectorID: a.ConnectorID, AllTools: a.AllTools, Tools: a.Tools, Reason: a.Reason,
			Until: toUTC(a.Until), Asker: a.Asker, AskedBy: a.AskedBy, AskedAt: a.AskedAt.UTC(), State: connectors.AccessRequestState(a.State),
			DecidedBy: a.DecidedBy, DecidedAt: toUTC(a.DecidedAt), Note: a.Note,
		},
		Agent:     connectors.AgentName{Slug: r.Agent, Name: r.AgentName},
		Connector: connectors.ConnectorName{ID: a.ConnectorID, Slug: r.Connector, Name: r.ConnectorName},
	}
}

// Bounds of what is read for a decision.
const (
	requestCallAge   = 30 * 24 * time.Hour
	maxRequestCalls  = 100_000
	maxReviewedTools = 100
	maxOtherGrants   = 20
)

// RequestedTool is a tool of a request, with its calls of the last 30 days.
type RequestedTool struct {
	Name    string
	Effect  connectors.Effect
	Review  connectors.Review
	Enabled bool
	Calls   int // of all agents
	Failed  int
	Refused int // of the request's agent, because the tool was not granted
}

// OtherGrant is another agent's grant of the connector.
type OtherGrant struct {
	Agent    connectors.AgentName
	AllTools bool
	Tools    int
}

// ReviewTools lists the tools of a request that the server lists, at most 100.
func (t AccessRequests) ReviewTools(ctx context.Context, r connectors.AccessRequest) ([]RequestedTool, error) {
	rows, err := t.q.RequestedTools(ctx, dbgen.RequestedToolsParams{
		TenantID: t.id, ConnectorID: r.ConnectorID.UUID, AgentID: r.AgentID.UUID, AllTools: r.AllTools, Tools: cleanAll(r.Tools),
		Since: minUUIDv7At(time.Now().Add(-requestCallAge)), MaxCalls: maxRequestCalls, MaxRows: maxReviewedTools,
	})
	return mapRows(rows, func(row dbgen.RequestedToolsRow) RequestedTool {
		effect := connectors.EffectUnsaid
		if row.Raw != nil {
			effect = connectors.DecodeTool(row.Raw).Hints.Effect()
		}
		return RequestedTool{
			Name: row.Name, Effect: effect, Review: row.Review, Enabled: row.Enabled, Calls: int(row.Calls), Failed: int(row.Failed), Refused: int(row.Refused),
		}
	}), err
}

// OtherGrants lists grants of the connector for other agents, at most 20.
func (t AccessRequests) OtherGrants(ctx context.Context, r connectors.AccessRequest) ([]OtherGrant, error) {
	rows, err := t.q.OtherGrants(ctx, dbgen.OtherGrantsParams{TenantID: t.id, ConnectorID: r.ConnectorID, AgentID: r.AgentID, MaxRows: maxOtherGrants})
	return mapRows(rows, func(row dbgen.OtherGrantsRow) OtherGrant {
		return OtherGrant{Agent: connectors.AgentName{Slug: row.Slug, Name: row.Name}, AllTools: row.AllTools, Tools: int(row.Tools)}
	}), err
}
