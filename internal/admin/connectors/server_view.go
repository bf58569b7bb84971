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
		{Label: i18n.T(ctx, "Era"), Value: eraWords(ctx, c.Era)},
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
		return i18n.T(ctx, "modern: no handshake, each request says all")
	case "handshake":
		return i18n.T(ctx, "handshake: opened by initialize")
	case "sse":
		return i18n.T(ctx, "HTTP+SSE of 2024: one stream, and posts beside it")
	}
	return ""
}

// sessionWords says whether a server uses MCP sessions, judged by a sync's requests; empty if they do not show
// it.
func sessionWords(ctx context.Context, era string, requests []connectors.SyncRequest) string {
	switch {
	case era == "modern":
		return i18n.T(ctx, "none: the server keeps nothing between requests")
	case len(requests) == 0:
		return ""
	case slices.ContainsFunc(requests, func(q connectors.SyncRequest) bool { return q.Phase == "close" }):
		return i18n.T(ctx, "one for each conversation, ended by us")
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
			more = append(more, i18n.T(ctx, "tells of changes"))
		}
		if can.Subscribe {
			more = append(more, i18n.T(ctx, "watched one by one"))
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
		return i18n.T(ctx, "a credential at calls, not at listing")
	case connectors.AuthAll:
		return i18n.T(ctx, "a credential for everything")
	default:
		return ""
	}
}

// signInWords says which authentication a server wants, and what Patchbay sends.
func signInWords(ctx context.Context, c connectors.Connector) []templates.Fact {
	text := i18n.T(ctx, "not known until a sync has asked it")
	switch c.AuthBehaviour {
	case connectors.AuthOpen:
		text = i18n.T(ctx, "none: it lists its tools to everybody")
	case connectors.AuthListOpen:
		text = i18n.T(ctx, "a credential at calls, and none for the list of tools")
	case connectors.AuthAll:
		text = i18n.T(ctx, "a credential for everything, the list of tools included")
	}
	return []templates.Fact{{Label: i18n.T(ctx, "Server wants"), Value: text}, {Label: i18n.T(ctx, "We send"), Value: sendsWords(ctx, c)}}
}

func sendsWords(ctx context.Context, c connectors.Connector) string {
	var what string
	switch c.Auth.Type {
	case connectors.AuthNone:
		return i18n.T(ctx, "no credential")
	case connectors.AuthBearer:
		what = i18n.T(ctx, "a stored bearer token")
	case connectors.AuthAPIKey:
		what = i18n.T(ctx, "a stored key")
	case connectors.AuthBasic:
		what = i18n.T(ctx, "a stored user name and password")
	case connectors.AuthOAuth2:
		what = i18n.T(ctx, "the access token of a connected account, renewed by us")
	default:
		what = i18n.T(ctx, "an access token that we get as a machine, renewed by us")
	}
	if c.CredentialMode == connectors.CredentialPerAgent {
		return i18n.T(ctx, "%s; each agent has its own", what)
	}
	return i18n.T(ctx, "%s; one for all agents", what)
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
