package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// serverFacts are what a server said of itself; none before the first sync.
func serverFacts(ctx context.Context, c connectors.Connector, requests []connectors.SyncRequest) []templates.Fact {
	var facts []templates.Fact
	for _, f := range []templates.Fact{
		{Label: words.T(ctx, "Name"), Value: clean(c.Server.Name)},
		{Label: words.T(ctx, "Title"), Value: clean(c.Server.Title)},
		{Label: words.T(ctx, "Version"), Value: clean(c.Server.Version), Mono: true},
		{Label: words.T(ctx, "Protocol"), Value: clean(c.Server.ProtocolVersion), Mono: true},
		{Label: words.T(ctx, "Era"), Value: eraWords(ctx, c.Era)},
		{Label: words.T(ctx, "Session"), Value: sessionWords(ctx, c.Era, requests)},
		{Label: words.T(ctx, "Capabilities"), Value: capabilityWords(ctx, c.Capabilities)},
	} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

// eraWords say how a server is spoken with; empty: not known.
func eraWords(ctx context.Context, era string) string {
	switch era {
	case "modern":
		return words.T(ctx, "modern: no handshake, each request says all")
	case "handshake":
		return words.T(ctx, "handshake: opened by initialize")
	case "sse":
		return words.T(ctx, "HTTP+SSE of 2024: one stream, and posts beside it")
	}
	return ""
}

// sessionWords say whether a server keeps a session for us, as far as a sync's requests tell; empty: they do not.
func sessionWords(ctx context.Context, era string, requests []connectors.SyncRequest) string {
	switch {
	case era == "modern":
		return words.T(ctx, "none: the server keeps nothing between requests")
	case len(requests) == 0:
		return ""
	case slices.ContainsFunc(requests, func(q connectors.SyncRequest) bool { return q.Phase == "close" }):
		return words.T(ctx, "one for each conversation, ended by us")
	}
	return words.T(ctx, "none")
}

// capabilityWords name what a server says that it can do; empty: it did not say.
func capabilityWords(ctx context.Context, raw []byte) string {
	var offered map[string]struct {
		ListChanged bool `json:"listChanged"`
		Subscribe   bool `json:"subscribe"`
	}
	_ = json.Unmarshal(raw, &offered) // what cannot be read is not told
	var names []string
	for _, name := range []string{"tools", "prompts", "resources", "completions", "logging", "tasks"} {
		can, there := offered[name]
		if !there {
			continue
		}
		var more []string
		if can.ListChanged {
			more = append(more, words.T(ctx, "tells of changes"))
		}
		if can.Subscribe {
			more = append(more, words.T(ctx, "watched one by one"))
		}
		if more != nil {
			name += " (" + strings.Join(more, ", ") + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// behaviourName is what a server asks for; empty: it is not known.
func behaviourName(ctx context.Context, b connectors.AuthBehaviour) string {
	switch b {
	case connectors.AuthOpen:
		return words.T(ctx, "nothing")
	case connectors.AuthListOpen:
		return words.T(ctx, "a credential at calls, not at listing")
	case connectors.AuthAll:
		return words.T(ctx, "a credential for everything")
	default:
		return ""
	}
}

// signInWords say what sign-in a server wants, and what is sent.
func signInWords(ctx context.Context, c connectors.Connector) []templates.Fact {
	wants := words.T(ctx, "not known until a sync has asked it")
	switch c.AuthBehaviour {
	case connectors.AuthOpen:
		wants = words.T(ctx, "none: it lists its tools to everybody")
	case connectors.AuthListOpen:
		wants = words.T(ctx, "a credential at calls, and none for the list of tools")
	case connectors.AuthAll:
		wants = words.T(ctx, "a credential for everything, the list of tools included")
	}
	return []templates.Fact{{Label: words.T(ctx, "Server wants"), Value: wants}, {Label: words.T(ctx, "We send"), Value: sendsWords(ctx, c)}}
}

func sendsWords(ctx context.Context, c connectors.Connector) string {
	var what string
	switch c.Auth.Type {
	case connectors.AuthNone:
		return words.T(ctx, "no credential")
	case connectors.AuthBearer:
		what = words.T(ctx, "a stored bearer token")
	case connectors.AuthAPIKey:
		what = words.T(ctx, "a stored key")
	case connectors.AuthBasic:
		what = words.T(ctx, "a stored user name and password")
	case connectors.AuthOAuth2:
		what = words.T(ctx, "the access token of a connected account, renewed by us")
	default:
		what = words.T(ctx, "an access token that we get as a machine, renewed by us")
	}
	if c.CredentialMode == connectors.CredentialPerAgent {
		return words.T(ctx, "%s; each agent has its own", what)
	}
	return words.T(ctx, "%s; one for all agents", what)
}

// lastRequests are those of the newest run that tells any.
func (h *Handler) lastRequests(r *http.Request, runs []connectors.SyncRun) ([]connectors.SyncRequest, error) {
	i := slices.IndexFunc(runs, func(run connectors.SyncRun) bool {
		return run.State == connectors.SyncOK && run.Trigger != connectors.TriggerSchedule
	})
	if i < 0 {
		return nil, nil
	}
	all, err := h.tenant(r).RunRequests(r.Context(), runs[i].ID)
	return all.List, err
}
