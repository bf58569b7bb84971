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
	Since         time.Time        `json:"since" doc:"Tools called since then count as used, whatever the outcome."`
	Provider      string           `json:"provider" enum:"mcp,openai,anthropic,google"`
	Seen          int              `json:"seen" doc:"Number of tools that the agent sees."`
	TooNew        int              `json:"too_new" doc:"Uncalled tools that were granted, or first listed, after since: too early to tell."`
	Tokens        int              `json:"tokens" doc:"Estimated tokens of all tools in each request."`
	TokensSaved   int              `json:"tokens_saved" doc:"Estimated tokens of the tools below."`
	MarginPercent int              `json:"margin_percent" doc:"Margin of error of the estimates."`
	Tools         []unusedToolJSON `json:"tools" nullable:"false" doc:"Tools available since then and never called, by connector and name."`
}

type unusedToolJSON struct {
	Tool      string `json:"tool" doc:"The exposed name."`
	Connector string `json:"connector" doc:"The connector's slug."`
	Name      string `json:"name" doc:"The server's name for it, used in grants."`
	Tokens    int    `json:"tokens" doc:"Estimated tokens in each request."`
}

type unusedInput struct {
	AgentPath
	Provider
	Days int `query:"days" minimum:"1" maximum:"365" default:"30" doc:"Days to look back."`
}

const aboutUnused = `Tools that the agent sees and has not called in this many days, and what removing them would save in every request. Read-only: to narrow a grant,
send the tools to keep to PUT /api/v1/agents/{id}/connectors/{connector}. OAuth scopes are not considered: no server states which tool needs which.
Each tenant can run two of these requests at a time; others wait two seconds, then get 503 with Retry-After.`

func (h *Handler) mountAgentUnused() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/agents/{id}/unused_tools", id: "listUnusedAgentTools", tag: "Agents",
		summary: "List tools that an agent does not use, with their size", description: aboutUnused, permission: connectors.PermRead,
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
