package connectors

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// serverFacts are what a server says about itself; none before the first sync.
func serverFacts(ctx context.Context, c connectors.Connector, requests []connectors.SyncRequest) []templates.Fact {
	var facts []templates.Fact
	for _, f := range []templates.Fact{
		{Label: i18n.T(ctx, "Name"), Value: shell.CleanText(c.Server.Name)},
		{Label: i18n.T(ctx, "Title"), Value: shell.CleanText(c.Server.Title)},
		{Label: i18n.T(ctx, "Version"), Value: shell.CleanText(c.Server.Version), Mono: true},
		{Label: i18n.T(ctx, "Protocol"), Value: shell.CleanText(c.Server.ProtocolVersion), Mono: true},
		{Label: i18n.T(ctx, "Session style"), Value: eraWords(ctx, c.Era)},
		{Label: i18n.T(ctx, "Session"), Value: sessionWords(ctx, c.Era, requests)},
		{Label: i18n.T(ctx, "Capabilities"), Value: capabilityWords(ctx, c.Capabilities)},
	} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

// eraWords says which protocol a server speaks; empty if it is not known.
func eraWords(ctx context.Context, era string) string {
	switch era {
	case "modern":
		return i18n.T(ctx, "stateless, no handshake")
	case "handshake":
		return i18n.T(ctx, "initialize handshake")
	case "sse":
		return i18n.T(ctx, "HTTP+SSE (2024)")
	}
	return ""
}

// sessionWords says whether a server uses MCP sessions, judged by a sync's requests; empty if they do not show
// it.
func sessionWords(ctx context.Context, era string, requests []connectors.SyncRequest) string {
	switch {
	case era == "modern":
		return i18n.T(ctx, "none (stateless server)")
	case len(requests) == 0:
		return ""
	case slices.ContainsFunc(requests, func(q connectors.SyncRequest) bool { return q.Phase == "close" }):
		return i18n.T(ctx, "one per conversation")
	}
	return i18n.T(ctx, "none")
}

// capabilityWords names a server's capabilities; empty if it declared none.
func capabilityWords(ctx context.Context, raw []byte) string {
	var offered map[string]struct {
		ListChanged bool `json:"listChanged"`
		Subscribe   bool `json:"subscribe"`
	}
	_ = json.Unmarshal(raw, &offered) // unreadable capabilities are not shown
	var names []string
	for _, name := range []string{"tools", "prompts", "resources", "completions", "logging", "tasks"} {
		can, present := offered[name]
		if !present {
			continue
		}
		var more []string
		if can.ListChanged {
			more = append(more, i18n.T(ctx, "change notifications"))
		}
		if can.Subscribe {
			more = append(more, i18n.T(ctx, "subscribable"))
		}
		if more != nil {
			name += " (" + strings.Join(more, ", ") + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// BehaviourName words what authentication a server asks for; empty if it is not known.
func BehaviourName(ctx context.Context, b connectors.AuthBehaviour) string {
	switch b {
	case connectors.AuthOpen:
		return i18n.T(ctx, "nothing")
	case connectors.AuthListOpen:
		return i18n.T(ctx, "credential for calls only")
	case connectors.AuthAll:
		return i18n.T(ctx, "credential for everything")
	default:
		return ""
	}
}

// signInWords says which authentication a server wants, and what Patchbay sends.
func signInWords(ctx context.Context, c connectors.Connector) []templates.Fact {
	sends := templates.Fact{Label: i18n.T(ctx, "Patchbay sends"), Value: sendsWords(ctx, c)}
	if c.Transport == connectors.TransportAPI { // its document says so for each operation
		return []templates.Fact{sends}
	}
	text := i18n.T(ctx, "unknown until synced")
	switch c.AuthBehaviour {
	case connectors.AuthOpen:
		text = i18n.T(ctx, "nothing")
	case connectors.AuthListOpen:
		text = i18n.T(ctx, "credential for calls only")
	case connectors.AuthAll:
		text = i18n.T(ctx, "credential for everything")
	}
	return []templates.Fact{{Label: i18n.T(ctx, "Server requires"), Value: text}, sends}
}

func sendsWords(ctx context.Context, c connectors.Connector) string {
	var what string
	switch c.Auth.Type {
	case connectors.AuthNone:
		return i18n.T(ctx, "no credential")
	case connectors.AuthBearer:
		what = i18n.T(ctx, "stored bearer token")
	case connectors.AuthAPIKey:
		what = i18n.T(ctx, "stored key")
	case connectors.AuthBasic:
		what = i18n.T(ctx, "stored username and password")
	case connectors.AuthOAuth2:
		what = i18n.T(ctx, "account's access token, auto-renewed")
	default:
		what = i18n.T(ctx, "client-credentials token, auto-renewed")
	}
	if c.CredentialMode == connectors.CredentialPerAgent {
		return i18n.T(ctx, "%s, per agent", what)
	}
	return i18n.T(ctx, "%s, shared", what)
}

// lastRequests are the requests of the newest run that recorded any.
func lastRequests(ctx context.Context, tenant store.Syncs, runs []connectors.SyncRun) ([]connectors.SyncRequest, error) {
	i := slices.IndexFunc(runs, func(run connectors.SyncRun) bool {
		return run.State == connectors.SyncOK && run.Trigger != connectors.TriggerSchedule
	})
	if i < 0 {
		return nil, nil
	}
	all, err := tenant.RunRequests(ctx, runs[i].ID)
	return all.List, err
}
