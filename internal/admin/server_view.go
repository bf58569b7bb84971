package admin

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// serverFacts are what a server said of itself; none before the first sync.
func serverFacts(c connectors.Connector, requests []connectors.SyncRequest) []templates.Fact {
	var facts []templates.Fact
	for _, f := range []templates.Fact{
		{Label: "Name", Value: clean(c.Server.Name)},
		{Label: "Title", Value: clean(c.Server.Title)},
		{Label: "Version", Value: clean(c.Server.Version), Mono: true},
		{Label: "Protocol", Value: clean(c.Server.ProtocolVersion), Mono: true},
		{Label: "Era", Value: eraWords(c.Era)},
		{Label: "Session", Value: sessionWords(c.Era, requests)},
		{Label: "Capabilities", Value: capabilityWords(c.Capabilities)},
	} {
		if f.Value != "" {
			facts = append(facts, f)
		}
	}
	return facts
}

// eraWords say how a server is spoken with; empty: not known.
func eraWords(era string) string {
	switch era {
	case "modern":
		return "modern: no handshake, each request says all"
	case "handshake":
		return "handshake: opened by initialize"
	case "sse":
		return "HTTP+SSE of 2024: one stream, and posts beside it"
	}
	return ""
}

// sessionWords say whether a server keeps a session for us, as far as a sync's requests tell; empty: they do not.
func sessionWords(era string, requests []connectors.SyncRequest) string {
	switch {
	case era == "modern":
		return "none: the server keeps nothing between requests"
	case len(requests) == 0:
		return ""
	case slices.ContainsFunc(requests, func(q connectors.SyncRequest) bool { return q.Phase == "close" }):
		return "one for each conversation, ended by us"
	}
	return "none"
}

// capabilityWords name what a server says that it can do; empty: it did not say.
func capabilityWords(raw []byte) string {
	var offered map[string]struct {
		ListChanged bool `json:"listChanged"`
		Subscribe   bool `json:"subscribe"`
	}
	_ = json.Unmarshal(raw, &offered) // what cannot be read is not told
	var words []string
	for _, name := range []string{"tools", "prompts", "resources", "completions", "logging", "tasks"} {
		can, there := offered[name]
		if !there {
			continue
		}
		var more []string
		if can.ListChanged {
			more = append(more, "tells of changes")
		}
		if can.Subscribe {
			more = append(more, "watched one by one")
		}
		if more != nil {
			name += " (" + strings.Join(more, ", ") + ")"
		}
		words = append(words, name)
	}
	return strings.Join(words, ", ")
}

// behaviourName is what a server asks for; empty: it is not known.
func behaviourName(b connectors.AuthBehaviour) string {
	switch b {
	case connectors.AuthOpen:
		return "nothing"
	case connectors.AuthListOpen:
		return "a credential at calls, not at listing"
	case connectors.AuthAll:
		return "a credential for everything"
	default:
		return ""
	}
}

// signInWords say what sign-in a server wants, and what is sent.
func signInWords(c connectors.Connector) []templates.Fact {
	wants := "not known until a sync has asked it"
	switch c.AuthBehaviour {
	case connectors.AuthOpen:
		wants = "none: it lists its tools to everybody"
	case connectors.AuthListOpen:
		wants = "a credential at calls, and none for the list of tools"
	case connectors.AuthAll:
		wants = "a credential for everything, the list of tools included"
	}
	return []templates.Fact{{Label: "Server wants", Value: wants}, {Label: "We send", Value: sendsWords(c)}}
}

func sendsWords(c connectors.Connector) string {
	var what string
	switch c.Auth.Type {
	case connectors.AuthNone:
		return "no credential"
	case connectors.AuthBearer:
		what = "a stored bearer token"
	case connectors.AuthAPIKey:
		what = "a stored key"
	case connectors.AuthBasic:
		what = "a stored user name and password"
	case connectors.AuthOAuth2:
		what = "the access token of a connected account, renewed by us"
	default:
		what = "an access token that we get as a machine, renewed by us"
	}
	if c.CredentialMode == connectors.CredentialPerAgent {
		return what + "; each agent has its own"
	}
	return what + "; one for all agents"
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
