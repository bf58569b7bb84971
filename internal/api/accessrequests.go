package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/store"
)

// accessRequestJSON is a request for access.
type accessRequestJSON struct {
	ID            string     `json:"id" format:"uuid"`
	Agent         string     `json:"agent" doc:"The agent's slug."`
	AgentName     string     `json:"agent_name"`
	Connector     string     `json:"connector" doc:"The connector's slug."`
	ConnectorName string     `json:"connector_name"`
	Tools         toolChoice `json:"tools"`
	Reason        string     `json:"reason"`
	Until         *time.Time `json:"until" doc:"The wanted end. Null: none."`
	AskedBy       string     `json:"asked_by"`
	AskedAt       time.Time  `json:"asked_at"`
	State         string     `json:"state" enum:"open,accepted,refused,withdrawn"`
	DecidedBy     string     `json:"decided_by" doc:"Empty while open."`
	DecidedAt     *time.Time `json:"decided_at" doc:"Null while open."`
	Note          string     `json:"note" doc:"Of the decision."`
}

func viewAccessRequest(r store.RequestedAccess) accessRequestJSON {
	return accessRequestJSON{
		ID: r.ID.String(), Agent: r.Agent.Slug, AgentName: r.Agent.Name, Connector: r.Connector.Slug, ConnectorName: r.Connector.Name,
		Tools: toolChoice{all: r.AllTools, names: r.Tools}, Reason: r.Reason, Until: toUTC(r.Until), AskedBy: r.AskedBy, AskedAt: r.AskedAt.UTC(),
		State: string(r.State), DecidedBy: r.DecidedBy, DecidedAt: toUTC(r.DecidedAt), Note: r.Note,
	}
}

// accessReviewJSON is a request with what a decision rests on.
type accessReviewJSON struct {
	Request accessRequestJSON     `json:"request"`
	Granted grantPartJSON         `json:"granted" doc:"What the agent has now. For admins, as all below."`
	Grants  grantPartJSON         `json:"grants" doc:"What the agent would have if the request were accepted now."`
	Review  []requestedToolJSON   `json:"review" nullable:"false" doc:"The requested tools that the server lists, at most 100."`
	Others  []otherGrantAgentJSON `json:"others" nullable:"false" doc:"Other agents with access to the connector, at most 20."`
}

type grantPartJSON struct {
	Tools     toolChoice    `json:"tools"`
	Ends      grantEndsJSON `json:"ends"`
	Approval  *string       `json:"approval" doc:"Overrides the agent's approval mode. Null: the agent's."`
	Prompts   string        `json:"prompts"`
	Resources string        `json:"resources"`
}

type requestedToolJSON struct {
	Tool    string `json:"tool"`
	Effect  string `json:"effect" enum:"read_only,writes,destructive,unsaid" doc:"As the server states it."`
	Review  string `json:"review" doc:"The state of the review of its definition."`
	Enabled bool   `json:"enabled"`
	Calls   int    `json:"calls" doc:"Of all agents in the last 30 days."`
	Failed  int    `json:"failed"`
	Refused int    `json:"refused" doc:"Calls of this agent that were not granted."`
}

type otherGrantAgentJSON struct {
	Agent    string `json:"agent" doc:"The agent's slug."`
	Name     string `json:"name"`
	AllTools bool   `json:"all_tools"`
	Tools    int    `json:"tools" doc:"Named tools."`
}

func viewGrantPart(g connectors.Grant) grantPartJSON {
	return grantPartJSON{
		Tools: toolChoice{all: g.AllTools, names: g.Tools}, Ends: viewGrantEnds(g.Ends), Approval: (*string)(g.Approval),
		Prompts: string(g.Prompts), Resources: string(g.Resources),
	}
}

func viewAccessReview(v manage.AccessReview) accessReviewJSON {
	out := accessReviewJSON{
		Request: viewAccessRequest(v.Request), Grants: viewGrantPart(v.After), Review: []requestedToolJSON{}, Others: []otherGrantAgentJSON{},
	}
	if v.Before != nil {
		out.Granted = viewGrantPart(*v.Before)
	}
	for _, t := range v.Tools {
		out.Review = append(out.Review, requestedToolJSON{t.Name, string(t.Effect), string(t.Review), t.Enabled, t.Calls, t.Failed, t.Refused})
	}
	for _, o := range v.Others {
		out.Others = append(out.Others, otherGrantAgentJSON{o.Agent.Slug, o.Agent.Name, o.AllTools, o.Tools})
	}
	return out
}

type accessRequestCreate struct {
	Agent     string     `json:"agent" doc:"An agent's id or slug."`
	Connector string     `json:"connector" doc:"A connector's id or slug."`
	Tools     toolChoice `json:"tools"`
	Reason    string     `json:"reason" doc:"1–1000 characters."`
	Until     *time.Time `json:"until,omitempty" nullable:"true" doc:"The wanted end. Null or absent: none."`
}

type accessRequestAccept struct {
	Until *time.Time `json:"until,omitempty" nullable:"true" doc:"Another end. Null or absent: the wanted one."`
	NoEnd bool       `json:"no_end,omitempty" doc:"No end instead of the wanted one."`
	Note  string     `json:"note,omitempty" doc:"At most 1000 characters."`
}

type accessRequestRefuse struct {
	Note string `json:"note,omitempty" doc:"At most 1000 characters."`
}

// AccessRequestPath is the path of a request for access.
type AccessRequestPath struct {
	ID string `path:"id" doc:"A request's id."`
}

func (p AccessRequestPath) requestID() (connectors.AccessRequestID, error) {
	id, ok := connectors.Ref(p.ID).UUID()
	if !ok {
		return connectors.AccessRequestID{}, fault.Errorf(fault.NotFound, "No such request.")
	}
	return connectors.AccessRequestID{UUID: id}, nil
}

type listAccessRequestsInput struct {
	State string `query:"state" enum:"open,accepted,refused,withdrawn" doc:"Empty: any."`
	Paging
}

type acceptAccessInput struct {
	AccessRequestPath
	JSON optionalBody[accessRequestAccept]
}

type refuseAccessInput struct {
	AccessRequestPath
	JSON optionalBody[accessRequestRefuse]
}

func (h *Handler) mountAccessRequests() {
	const tag, path = "Access requests", "/api/v1/access_requests"
	registerOperation(h, operation{
		method: http.MethodGet, path: path, id: "listAccessRequests", tag: tag,
		summary: "List requests for access, newest first", permission: connectors.PermRead,
	}, h.listAccessRequests)
	registerOperation(h, operation{
		method: http.MethodPost, path: path, id: "askAccess", tag: tag,
		summary: "Ask for an agent's access to a connector or tools", permission: connectors.PermOperate, status: http.StatusCreated,
	}, h.askAccess)
	registerOperation(h, operation{
		method: http.MethodGet, path: path + "/{id}", id: "getAccessRequest", tag: tag,
		summary: "Read a request for access with what a decision rests on", permission: connectors.PermRead,
	}, h.getAccessRequest)
	registerOperation(h, operation{
		method: http.MethodPost, path: path + "/{id}/accept", id: "acceptAccess", tag: tag,
		summary: "Accept a request: the agent's grant is widened up to the end", permission: connectors.PermManage,
	}, h.acceptAccess)
	registerOperation(h, operation{
		method: http.MethodPost, path: path + "/{id}/refuse", id: "refuseAccess", tag: tag,
		summary: "Refuse a request for access", permission: connectors.PermManage,
	}, h.refuseAccess)
	registerOperation(h, operation{
		method: http.MethodPost, path: path + "/{id}/withdraw", id: "withdrawAccessRequest", tag: tag,
		summary: "Withdraw your open request for access", permission: connectors.PermOperate,
	}, h.withdrawAccessRequest)
}

func (h *Handler) listAccessRequests(ctx context.Context, actor auth.Actor, in *listAccessRequestsInput) (*response[list[accessRequestJSON]], error) {
	page, err := h.registry.AccessRequests(ctx, actor, store.AccessRequestFilter{State: connectors.AccessRequestState(in.State), Page: in.toPage()})
	if err != nil {
		return nil, err
	}
	return newListResponse(page, viewAccessRequest), nil
}

func (h *Handler) askAccess(ctx context.Context, actor auth.Actor, in *struct {
	JSON requestBody[accessRequestCreate]
},
) (*response[accessRequestJSON], error) {
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	if doc.Tools.isInvalid {
		return nil, fault.InvalidFields(fault.Field{Location: "tools", Message: `tools must be "all", or an array of names.`})
	}
	asked, err := h.registry.AskAccess(ctx, actor, manage.AccessAsk{
		Agent: connectors.Ref(doc.Agent), Connector: connectors.Ref(doc.Connector), AllTools: doc.Tools.all, Tools: doc.Tools.names,
		Reason: doc.Reason, Until: doc.Until,
	})
	if err != nil {
		return nil, err
	}
	return &response[accessRequestJSON]{Body: viewAccessRequest(asked)}, nil
}

func (h *Handler) getAccessRequest(ctx context.Context, actor auth.Actor, in *AccessRequestPath) (*response[accessReviewJSON], error) {
	id, err := in.requestID()
	if err != nil {
		return nil, err
	}
	review, err := h.registry.ReviewRequest(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	return &response[accessReviewJSON]{Body: viewAccessReview(review)}, nil
}

func (h *Handler) acceptAccess(ctx context.Context, actor auth.Actor, in *acceptAccessInput) (*response[accessRequestJSON], error) {
	id, err := in.requestID()
	if err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	decision := manage.RequestDecision{Accept: true, Note: doc.Note}
	if doc.Until != nil || doc.NoEnd {
		if doc.Until != nil && doc.NoEnd {
			return nil, fault.InvalidFields(fault.Field{Location: "no_end", Message: "Choose either until or no_end."})
		}
		decision.Until = &doc.Until
	}
	return h.decideAccess(ctx, actor, id, decision)
}

func (h *Handler) refuseAccess(ctx context.Context, actor auth.Actor, in *refuseAccessInput) (*response[accessRequestJSON], error) {
	id, err := in.requestID()
	if err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	return h.decideAccess(ctx, actor, id, manage.RequestDecision{Note: doc.Note})
}

func (h *Handler) decideAccess(
	ctx context.Context, actor auth.Actor, id connectors.AccessRequestID, d manage.RequestDecision,
) (*response[accessRequestJSON], error) {
	decided, err := h.registry.DecideRequest(ctx, actor, id, d)
	if err != nil {
		return nil, err
	}
	return &response[accessRequestJSON]{Body: viewAccessRequest(decided)}, nil
}

func (h *Handler) withdrawAccessRequest(ctx context.Context, actor auth.Actor, in *AccessRequestPath) (*noContent, error) {
	id, err := in.requestID()
	if err != nil {
		return nil, err
	}
	return nil, h.registry.WithdrawRequest(ctx, actor, id)
}
