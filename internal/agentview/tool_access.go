package agentview

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// ToolAccess explains whether an agent can use a tool name.
type ToolAccess struct {
	Exposed   string
	Connector string // slug; empty: no connector has such a tool
	Tool      string // upstream name; empty likewise

	Listed        bool   // the tool is listed for the agent
	Callable      bool   // a call would be sent, or wait for approval
	State         string // "ok", "unknown", "renamed", or one of the BlockedBy codes
	Renamed       string // the current exposed name; empty: not renamed
	NeedsApproval bool   // a call needs approval
	RequiresTask  bool   // the server makes a task of every call

	Prompts   connectors.PromptAccess   // of the connector's grant; empty: not granted
	Resources connectors.ResourceAccess // likewise
	// ItemsUnasked: prompts and resources are used without asking, though each call of a tool needs approval.
	ItemsUnasked bool

	GrantEnd     *time.Time // when the grant of the tool ends or ended; nil: never, or not granted
	AllowedUntil *time.Time // end of an allowance without approval; nil: none
	Credential   CredentialAccess
	Unchecked    []UncheckedPart // parts of the input schema that arguments are not checked against
	Advice       string          // the next step, one sentence
}

// States of a ToolAccess besides the BlockedBy codes.
const (
	StateOK            = "ok"
	StateUnknown       = "unknown"
	StateRenamed       = "renamed" // an admin set another name
	StateAgentDisabled = "agent_disabled"
	StateTasksMissing  = "tasks_missing" // the server requires a task for each call, and declares no tasks
)

// CredentialAccess describes the credential that a call would use.
type CredentialAccess struct {
	Mode    connectors.CredentialMode
	Owner   string // "none" (the server needs no credential), "shared" or "agent"
	Account string // name of the account; empty: the owner's only one has no name, or there is none
	Several bool   // the owner has several accounts, and the grant names none
	Status  string // a [connectors.CredentialStatus], "missing" or "not_needed"
}

const (
	credentialMissing   = "missing"
	credentialNotNeeded = "not_needed"
)

// ExplainTool explains a tool name from the view alone, without its credential.
func (v *View) ExplainTool(exposed string) ToolAccess {
	w := ToolAccess{Exposed: exposed, State: StateUnknown}
	t := v.tools[exposed]
	if t == nil {
		if t = v.findRenamed(exposed); t != nil {
			w.Connector, w.Tool, w.State, w.Renamed = t.Connector.Connector.Slug, t.Name, StateRenamed, t.Exposed
		}
		return w
	}
	w.Connector, w.Tool, w.Listed = t.Connector.Connector.Slug, t.Name, t.Listed() && v.Agent.Enabled
	w.State = t.BlockedBy
	switch {
	case !v.Agent.Enabled:
		w.State = StateAgentDisabled
	case t.BlockedBy == "" && t.LacksTasks():
		w.State = StateTasksMissing
	case t.BlockedBy == "":
		w.State = StateOK
	}
	w.RequiresTask = t.TaskSupport == TaskRequired && t.OffersTasks
	w.NeedsApproval, w.GrantEnd = t.NeedsApproval, t.End
	grant := t.Connector.Grant
	w.Prompts, w.Resources, w.ItemsUnasked = grant.Prompts, grant.Resources, grant.LeavesItemsUnasked(v.Agent.Approval)
	if until, ok := t.Connector.Allowances[t.Name]; ok {
		w.AllowedUntil = &until
	}
	return w
}

// findRenamed returns the tool that would have the name without its alias, or nil.
func (v *View) findRenamed(exposed string) *Tool {
	for _, connector := range v.Connectors {
		for _, t := range connector.tools {
			if t.ConnectorName != t.Name && connectors.ExposedNameWithin(v.Agent.NameLimit, connector.Slug, t.Name) == exposed {
				return t
			}
		}
	}
	return nil
}

// ExplainTool explains whether an agent sees a tool and may call it, with which credential, and what to do if not. An
// unknown name is a result, not an error.
func (c *Cache) ExplainTool(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref, exposed string) (w ToolAccess, err error) {
	err = c.store.Tenant(tenant).Snapshot(ctx, func(tx *store.Tenant) error {
		found, err := tx.Agents().Get(ctx, agent)
		if err != nil {
			return err
		}
		w, err = c.WhyIn(ctx, tx, found.ID, exposed)
		return err
	})
	return w, err
}

// WhyIn is Why within a snapshot.
func (c *Cache) WhyIn(ctx context.Context, snapshot *store.Tenant, agent connectors.AgentID, exposed string) (ToolAccess, error) {
	w, err := c.whyInSnapshot(ctx, snapshot, agent, exposed)
	if err != nil {
		return ToolAccess{}, err
	}
	return w.withConclusions(c.now()), nil
}

func (c *Cache) whyInSnapshot(ctx context.Context, tx *store.Tenant, agent connectors.AgentID, exposed string) (ToolAccess, error) {
	v, err := c.LoadFrom(ctx, tx.Agents(), agent)
	if err != nil {
		return ToolAccess{}, err
	}
	w := v.ExplainTool(exposed)
	if t := v.tools[exposed]; t != nil {
		w.Unchecked = t.Unchecked()
		w.Credential, err = newCredentialWhy(ctx, tx.Agents(), v.Agent.ID, t.Connector)
		return w, err
	}
	if w.State == StateUnknown {
		if w.Connector, w.Tool, err = findUngranted(ctx, tx, v, exposed); err != nil {
			return ToolAccess{}, err
		}
		if w.Tool != "" {
			w.State = HeldNotGranted
		}
	}
	return w, nil
}

func (c CredentialAccess) isUsable() bool {
	switch c.Status {
	case credentialNotNeeded, string(connectors.CredentialActive), string(connectors.CredentialRefreshFailed):
		return true
	}
	return false
}

func isSeveral(err error) bool {
	_, ok := errors.AsType[store.SeveralAccountsError](err)
	return ok
}

func newCredentialWhy(ctx context.Context, db store.Agents, agent connectors.AgentID, granted *ConnectorView) (CredentialAccess, error) {
	c, account := granted.Connector, granted.Grant.Account()
	w := CredentialAccess{Mode: c.CredentialMode, Owner: "shared", Status: credentialMissing}
	var owner *connectors.AgentID
	if c.CredentialMode == connectors.CredentialPerAgent {
		w.Owner, owner = "agent", &agent
	}
	if c.Auth.Type == connectors.AuthNone {
		w.Owner, w.Status = "none", credentialNotNeeded
		return w, nil
	}
	w.Account = connectors.GivenName(account)
	found, err := db.CredentialFor(ctx, c.ID, owner, account)
	switch {
	case isSeveral(err):
		w.Several = true
		return w, nil
	case fault.Is(err, fault.NotFound):
		return w, nil
	case err != nil:
		return w, err
	}
	w.Status, w.Account = string(found.Status), connectors.GivenName(found.Name)
	if found.Type != c.Auth.Type || found.Origin != c.CredentialOrigin() {
		w.Status = credentialMissing // it is for another server and is not sent to this one
	}
	return w, nil
}

// findUngranted finds an existing tool of a connector without a grant, by the name that the agent would see.
// Both results are empty if there is none.
func findUngranted(ctx context.Context, db *store.Tenant, v *View, exposed string) (connector, tool string, err error) {
	slug, ok := connectors.ExposedSlug(exposed)
	if !ok || v.HasConnector(slug) {
		return "", "", nil
	}
	c, err := db.Connectors().Get(ctx, connectors.Ref(slug))
	if fault.Is(err, fault.NotFound) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	tools, err := db.Tools().Curated(ctx, c.ID)
	if err != nil {
		return "", "", err
	}
	if tool = findExposedTool(v.Agent.NameLimit, c.Slug, tools, exposed); tool == "" {
		return "", "", nil
	}
	return c.Slug, tool, nil
}

// findExposedTool returns the upstream name of the tool with an exposed name, or "".
func findExposedTool(limit int, slug string, tools []store.CuratedTool, exposed string) string {
	var named []connectors.ToolNames
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

func (w ToolAccess) adviceText() string {
	switch w.State {
	case StateUnknown:
		return "No connector has this tool. Check the agent's tools or sync the connector."
	case StateRenamed:
		return fmt.Sprintf("An admin renamed this tool to %s.", w.Renamed)
	case StateAgentDisabled:
		return "Enable the agent."
	case HeldNotGranted:
		return fmt.Sprintf("Grant the agent access to this tool, for the connector %q.", w.Connector)
	case HeldEnded:
		return fmt.Sprintf("Access ended at %s. Grant it again to continue.", w.GrantEnd.UTC().Format("2006-01-02 15:04:05 MST"))
	case HeldReview:
		return "Review the changed tool on its page; calls are blocked until then."
	case BlockedNew:
		return "Accept this new tool on its page."
	case HeldRejected:
		return "Rejected: hidden until the server reverts it or an admin accepts it."
	case BlockedDisabled:
		return "Enable the tool or its connector."
	case BlockedMalformed:
		return "The definition is malformed. Sync to see why, and tell the server's author."
	case StateTasksMissing:
		return "Every call is refused: the server requires tasks but doesn't declare support. Tell its author."
	case BlockedRemoved:
		return "The server no longer lists this tool. Sync to check."
	}
	switch {
	case w.Credential.isUsable() && w.NeedsApproval:
		return "Calls need approval, unless you change the approval mode or trust the tool."
	case w.Credential.isUsable() && w.RequiresTask:
		return "The agent can call this tool. Each call becomes a task; Patchbay waits for the result if the client doesn't support tasks."
	case w.Credential.isUsable():
		return "The agent can call this tool."
	case w.Credential.Several:
		return "There are several accounts. Choose the one that the agent uses, on the page of its access to the connector."
	case w.Credential.Account != "" && w.Credential.Status == credentialMissing:
		return fmt.Sprintf("The account %q is not connected. Connect it on the connector's Credentials page, or choose another one for the agent.", w.Credential.Account)
	case w.Credential.Owner == "agent":
		return "Connect the agent's account on the connector's Credentials page."
	default:
		return "Connect an account or enter a secret on the connector's Credentials page."
	}
}
