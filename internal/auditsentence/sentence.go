package auditsentence

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

// Entry is what a sentence is about.
type Entry struct {
	Actor  string // empty: Patchbay
	Action string
	Target string
	Detail json.RawMessage
}

// Names have the names of agents and connectors by slug. A missing one is shown by its slug.
type Names struct{ Agents, Connectors map[string]string }

// Write words an entry in the language of the context.
func Write(ctx context.Context, e Entry, names Names) string {
	actor := cmp.Or(e.Actor, "Patchbay")
	detail := readDetail(e.Detail)
	if e.Action == "agent_grant.set" {
		return writeGrant(ctx, e, detail, names)
	}
	first, second := resolveTarget(e, detail, names)
	key, known := sentences[e.Action]
	if detail.Agent != "" {
		if forAgent, ok := agentSentences[e.Action]; ok {
			key, second = forAgent, cmp.Or(names.Agents[detail.Agent], detail.Agent)
		}
	}
	if !known {
		return fmt.Sprintf("%s: %s %s", actor, e.Action, e.Target)
	}
	return fillNames(ctx, key, actor, first, second)
}

// fillNames inserts up to three names, in the order of the key.
func fillNames(ctx context.Context, key i18n.Key, names ...string) string {
	n := strings.Count(string(key), "%s")
	args := make([]any, n)
	for i := range args {
		args[i] = names[i]
	}
	return i18n.T(ctx, key, args...)
}

// entryDetail are the members of a detail that sentences use.
type entryDetail struct {
	Agent   string // slug
	Account string // name of a connector's account
	Name    string
	Tool    string
	Role    string
	Tools   any // "all", or names
	After   struct{ Name string }
	Had     bool `json:"-"` // there was a value before
}

func readDetail(raw json.RawMessage) entryDetail {
	var d entryDetail
	var sides struct{ Before map[string]json.RawMessage }
	_ = json.Unmarshal(raw, &d) // what does not fit is not said
	_ = json.Unmarshal(raw, &sides)
	d.Had = len(sides.Before) > 0
	return d
}

// withAccount adds the name of an account to its connector's: "Notes (home)".
func (d entryDetail) withAccount(connector string) string {
	if name := connectors.GivenName(d.Account); name != "" {
		return connector + " (" + name + ")"
	}
	return connector
}

// resolveTarget returns the names in a target, such as agent and connector.
func resolveTarget(e Entry, d entryDetail, names Names) (first, second string) {
	left, right, _ := strings.Cut(e.Target, "/")
	kind, _, _ := strings.Cut(e.Action, ".")
	switch kind {
	case "agent", "agent_token", "agent_client":
		return cmp.Or(names.Agents[e.Target], d.Name, e.Target), d.Name
	case "agent_grant", "agent_allowance", "access_request":
		return cmp.Or(names.Agents[left], left), d.withAccount(cmp.Or(names.Connectors[right], right))
	case "tool", "endpoint", "skill":
		if right == "" {
			return cmp.Or(names.Connectors[e.Target], e.Target), ""
		}
		return right, cmp.Or(names.Connectors[left], left)
	case "connector", "credential", "connect_link", "instructions":
		if e.Action == "credential.read" {
			return cmp.Or(names.Agents[e.Target], e.Target), ""
		}
		return d.withAccount(cmp.Or(names.Connectors[e.Target], d.Name, e.Target)), ""
	case "member":
		return e.Target, d.Role
	case "tenant":
		return cmp.Or(d.After.Name, e.Target), ""
	}
	return e.Target, ""
}

// writeGrant says what an agent may use from now on.
func writeGrant(ctx context.Context, e Entry, d entryDetail, names Names) string {
	actor := cmp.Or(e.Actor, "Patchbay")
	agent, connector := resolveTarget(e, d, names)
	if tools, ok := d.Tools.([]any); ok {
		if d.Had {
			return i18n.N(ctx, len(tools), "%[2]s changed the access of %[3]s to %[4]s: %[1]s tool", "%[2]s changed the access of %[3]s to %[4]s: %[1]s tools", actor, agent, connector)
		}
		return i18n.N(ctx, len(tools), "%[2]s granted %[3]s %[1]s tool of %[4]s", "%[2]s granted %[3]s %[1]s tools of %[4]s", actor, agent, connector)
	}
	if d.Had {
		return i18n.T(ctx, "%s changed the access of %s to %s: all tools", actor, agent, connector)
	}
	return i18n.T(ctx, "%s granted %s all tools of %s", actor, agent, connector)
}
