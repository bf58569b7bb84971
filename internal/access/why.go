package access

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Why is what there is to say about an agent and a name of a tool.
type Why struct {
	Exposed   string
	Connector string // the slug; empty: no connector has such a tool
	Tool      string // the upstream's name; likewise

	Sees    bool   // it is on the agent's list
	MayCall bool   // a call would go ahead, or ask a person
	State   string // "ok", "unknown", "renamed", or one of the Held codes
	Renamed string // under which name the agent sees the tool; empty: under this one
	Asks    bool   // a call waits for a person

	AllowedUntil *time.Time // until when it does not, though the approval mode says so; nil: there is no such time
	Credential   CredentialWhy
	Unchecked    []Unchecked // parts of the tool's input schema that arguments are not held against
	Advice       string      // what to do about it, one sentence
}

// States of a Why that are no Held code.
const (
	StateOK            = "ok"
	StateUnknown       = "unknown"
	StateRenamed       = "renamed" // an admin gave it another name
	StateAgentDisabled = "agent_disabled"
)

// CredentialWhy says whose credential a call would carry.
type CredentialWhy struct {
	Mode   connectors.CredentialMode
	Owner  string // "none" (the server wants no credential), "shared" or "agent"
	Status string // a connectors.CredentialStatus, "missing" or "not_needed"
}

const (
	credentialMissing   = "missing"
	credentialNotNeeded = "not_needed"
)

// Why says what the agent's view tells of a tool, but for its credential.
func (v *View) Why(exposed string) Why {
	w := Why{Exposed: exposed, State: StateUnknown}
	t := v.tools[exposed]
	if t == nil {
		if t = v.renamed(exposed); t != nil {
			w.Connector, w.Tool, w.State, w.Renamed = t.Reach.Connector.Slug, t.Name, StateRenamed, t.Exposed
		}
		return w
	}
	w.Connector, w.Tool, w.Sees = t.Reach.Connector.Slug, t.Name, t.Listed() && v.Agent.Enabled
	w.State = t.Held
	switch {
	case !v.Agent.Enabled:
		w.State = StateAgentDisabled
	case t.Held == "":
		w.State = StateOK
	}
	w.Asks = t.Asks
	if until, there := t.Reach.Allowances[t.Name]; there {
		w.AllowedUntil = &until
	}
	return w
}

// renamed finds the tool that would have the name, had no admin given it another; nil: there is none.
func (v *View) renamed(exposed string) *Tool {
	for _, r := range v.Reaches {
		for _, t := range r.tools {
			if t.Called != t.Name && connectors.ExposedNameWithin(v.Agent.NameLimit, r.Connector.Slug, t.Name) == exposed {
				return t
			}
		}
	}
	return nil
}

// Why says whether an agent sees a tool and may call it, with whose credential, and what to do where it may not. A name that no
// connector of the tenant has is no error: that is the answer.
func (k *Keeper) Why(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref, exposed string) (w Why, err error) {
	id, err := k.agentID(ctx, tenant, agent)
	if err != nil {
		return Why{}, err
	}
	err = k.store.Tenant(tenant).Snapshot(ctx, func(tx *store.Tenant) error {
		w, err = k.whyIn(ctx, tx, id, exposed)
		return err
	})
	if err != nil {
		return Why{}, err
	}
	return w.concluded(k.now()), nil
}

func (k *Keeper) whyIn(ctx context.Context, tx *store.Tenant, agent connectors.AgentID, exposed string) (Why, error) {
	v, err := k.FreshIn(ctx, tx, agent)
	if err != nil {
		return Why{}, err
	}
	w := v.Why(exposed)
	if t := v.tools[exposed]; t != nil {
		w.Unchecked = t.Unchecked()
		w.Credential, err = credentialWhy(ctx, tx, v, t.Reach.Connector)
		return w, err
	}
	if w.State == StateUnknown {
		if w.Connector, w.Tool, err = ungranted(ctx, tx, v, exposed); err != nil {
			return Why{}, err
		}
		if w.Tool != "" {
			w.State = HeldNotGranted
		}
	}
	return w, nil
}

func (c CredentialWhy) usable() bool {
	switch c.Status {
	case credentialNotNeeded, string(connectors.CredentialActive), string(connectors.CredentialRefreshFailed):
		return true
	}
	return false
}

func credentialWhy(ctx context.Context, door *store.Tenant, v *View, c connectors.Connector) (CredentialWhy, error) {
	w := CredentialWhy{Mode: c.CredentialMode, Owner: "shared", Status: credentialMissing}
	var owner *connectors.AgentID
	if c.CredentialMode == connectors.CredentialPerAgent {
		w.Owner, owner = "agent", &v.Agent.ID
	}
	if c.Auth.Type == connectors.AuthNone {
		w.Owner, w.Status = "none", credentialNotNeeded
		return w, nil
	}
	found, err := door.CredentialOf(ctx, c.ID, owner)
	switch {
	case fault.Is(err, fault.NotFound):
		return w, nil
	case err != nil:
		return w, err
	}
	w.Status = string(found.Status)
	if found.Type != c.Auth.Type || found.Origin != connectors.Origin(c.URL) {
		w.Status = credentialMissing // it was given for another server, and is not sent to this one
	}
	return w, nil
}

// ungranted finds a tool that is there, of a connector that the agent was not granted, by the name that the agent would see. Both are empty
// where there is none.
func ungranted(ctx context.Context, door *store.Tenant, v *View, exposed string) (connector, tool string, err error) {
	rest, ours := strings.CutPrefix(exposed, "mcp_")
	slug, _, whole := strings.Cut(rest, "__")
	if !ours || !whole || v.reaches[slug] != nil || !connectors.ValidSlug(slug) {
		return "", "", nil
	}
	c, err := door.Connector(ctx, connectors.Ref(slug))
	if fault.Is(err, fault.NotFound) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	tools, err := door.CuratedTools(ctx, c.ID)
	if err != nil {
		return "", "", err
	}
	if tool = exposedAs(v.Agent.NameLimit, c.Slug, tools, exposed); tool == "" {
		return "", "", nil
	}
	return c.Slug, tool, nil
}

// exposedAs finds the tool of a connector that agents would see under a name; empty: there is none.
func exposedAs(limit int, slug string, tools []store.CuratedTool, exposed string) string {
	var named []connectors.Named
	for _, t := range tools {
		if !t.Removed {
			named = append(named, t.Named())
		}
	}
	called := connectors.AgentNames(named)
	names := connectors.ExposedNamesWithin(limit, slug, slices.Collect(maps.Values(called)))
	for tool, name := range called {
		if names[name] == exposed {
			return tool
		}
	}
	return ""
}

// advice says what to do.
func (w Why) advice() string {
	switch w.State {
	case StateUnknown:
		return "No connector has a tool of that name. Look at the agent's list of tools, or sync the connector."
	case StateRenamed:
		return fmt.Sprintf("An admin gave the tool another name. Agents see it as %s.", w.Renamed)
	case StateAgentDisabled:
		return "The agent is disabled. Enable it."
	case HeldNotGranted:
		return fmt.Sprintf("The agent was not granted this tool. Grant it on the agent's page, for the connector %q.", w.Connector)
	case HeldReview:
		return "The server has changed the tool, and calls wait until somebody accepts or rejects the change on the tool's page."
	case HeldNew:
		return "The tool is new and nobody has accepted it yet. Accept it on the tool's page."
	case HeldRejected:
		return "The tool was rejected. It is never served until the server goes back to what was accepted, or somebody accepts it."
	case HeldDisabled:
		return "The tool or its connector is disabled. Enable it."
	case HeldMalformed:
		return "The tool's definition is malformed: MCP clients refuse it. Sync the connector to see why, and tell the server's author."
	case HeldRemoved:
		return "The server does not list the tool any more. Sync the connector if you think that it does."
	}
	switch {
	case w.Credential.usable() && w.Asks:
		return "A call waits until somebody approves it. To change that, set the approval mode, or trust the tool."
	case w.Credential.usable():
		return "Nothing needs to be done: the agent may call it."
	case w.Credential.Owner == "agent":
		return "The agent has no usable credential for the connector. Connect its account on the connector's Credentials page."
	default:
		return "The connector has no usable credential. Connect an account, or enter its secret, on the connector's Credentials page."
	}
}
