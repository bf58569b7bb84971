package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/toolfmt"
)

// unusedJSON is the tools that an agent sees and does not call.
type unusedJSON struct {
	Since         time.Time        `json:"since" doc:"What was called since then is used, whatever came of the call."`
	Provider      string           `json:"provider" enum:"mcp,openai,anthropic,google"`
	Seen          int              `json:"seen" doc:"How many tools the agent sees."`
	TooNew        int              `json:"too_new" doc:"How many of them were not called, but granted, or listed by their server, only since then: too early to tell."`
	Tokens        int              `json:"tokens" doc:"What all that it sees takes of each request, estimated."`
	TokensSaved   int              `json:"tokens_saved" doc:"What of it the tools below take."`
	MarginPercent int              `json:"margin_percent" doc:"How far the truth may be from the estimates."`
	Tools         []unusedToolJSON `json:"tools" nullable:"false" doc:"Those that could be called all the time since then, and were not, by connector and name."`
}

type unusedToolJSON struct {
	Tool      string `json:"tool" doc:"The exposed name."`
	Connector string `json:"connector" doc:"The connector's slug."`
	Name      string `json:"name" doc:"The name that the server gives it, by which a grant names it."`
	Tokens    int    `json:"tokens" doc:"What it takes of each request, estimated."`
}

type unusedInput struct {
	AgentPath
	Provider
	Days int `query:"days" minimum:"1" maximum:"365" default:"30" doc:"How far to look back."`
}

const aboutUnused = `The tools that the agent sees and has not called for so many days, with what leaving them out would save in every request. Nothing is changed by asking:
to narrow a grant, name the tools that shall stay with PUT /api/v1/agents/{id}/connectors/{connector}. OAuth scopes are not judged, since no server says which tool needs which.
A tenant has two of these looks at once; the others wait two seconds for their turn, then it is 503 with Retry-After.`

func (h *Handler) mountAgentUnused() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/unused_tools", id: "listUnusedAgentTools", tag: "Agents",
		summary: "Read which of its tools an agent does not call, and what they cost", description: aboutUnused, permission: connectors.PermRead,
	}, h.agentUnused)
}

func (h *Handler) agentUnused(ctx context.Context, actor auth.Actor, in *unusedInput) (*response[unusedJSON], error) {
	unused, err := h.access.Unused(ctx, actor.Tenant.ID, in.ref(), time.Now().AddDate(0, 0, -in.Days))
	if err != nil {
		return nil, err
	}
	return &response[unusedJSON]{Body: viewUnused(unused, in.format())}, nil
}

func viewUnused(u agentview.UnusedTools, f toolfmt.Format) unusedJSON {
	out := unusedJSON{
		Since: u.Since.UTC(), Provider: string(f), Seen: len(u.View.Tools), TooNew: u.TooRecent, Tokens: u.View.Size(f).Tokens,
		MarginPercent: toolfmt.Margin(f), Tools: make([]unusedToolJSON, len(u.Tools)),
	}
	for i, t := range u.Tools {
		size := t.Size(f)
		out.Tools[i] = unusedToolJSON{Tool: t.Exposed, Connector: t.Connector.Connector.Slug, Name: t.Name, Tokens: size.Tokens}
		out.TokensSaved += size.Tokens
	}
	return out
}
