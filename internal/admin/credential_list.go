package admin

import (
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// credentialList shows who can use a connector, never with what secret.
func (h *Handler) credentialList(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	return h.credentialsPage(w, r, c, credentialAttempt{})
}

// credentialAttempt is a form that was refused: whose it was, and why.
type credentialAttempt struct {
	row     string // the row's key
	form    form
	problem *fault.Error
}

func (h *Handler) credentialsPage(w http.ResponseWriter, r *http.Request, c connectors.Connector, attempt credentialAttempt) error {
	stored, err := h.credentials(r, c.ID)
	if err != nil {
		return err
	}
	agents, err := h.tenant(r).Agents(r.Context(), store.Page{Cursor: r.URL.Query().Get("cursor")})
	if err != nil {
		return err
	}
	page := templates.ConnectorCredentialsPage{
		Frame:  h.connectorFrame(r, c, "Credentials"),
		Head:   connectorHead(c, templates.TabCredentials),
		Auth:   c.Auth.Type,
		Mode:   c.CredentialMode,
		About:  authSentence(c),
		Rows:   credentialRows(c, agents.Items, stored, h.now()),
		Agents: len(agents.Items) > 0,
	}
	if c.CredentialMode == connectors.CredentialPerAgent {
		page.Pager = pager(r, agents.Next)
	}
	for i := range page.Rows {
		if attempt.problem != nil && page.Rows[i].Key == attempt.row {
			page.Rows[i].Form = attempt.form.again(attempt.problem)
			page.Rows[i].Open = true
		}
	}
	status := http.StatusOK
	if attempt.problem != nil {
		status = respond.Status(attempt.problem.Kind)
	}
	return h.respond.Page(w, r, status, templates.ConnectorCredentials(page))
}

// credentials are all of a connector's, by agent; the shared one is under the zero id.
func (h *Handler) credentials(r *http.Request, id connectors.ConnectorID) (map[connectors.AgentID]connectors.Credential, error) {
	all := map[connectors.AgentID]connectors.Credential{}
	page := store.Page{Limit: 200}
	for {
		list, err := h.tenant(r).Credentials(r.Context(), id, page)
		if err != nil {
			return nil, err
		}
		for _, c := range list.Items {
			all[ownerOf(c)] = c
		}
		if list.Next == "" {
			return all, nil
		}
		page.Cursor = list.Next
	}
}

func ownerOf(c connectors.Credential) connectors.AgentID {
	if c.AgentID == nil {
		return connectors.AgentID{}
	}
	return *c.AgentID
}

// credentialRows has one row for the shared credential, or one for each agent.
func credentialRows(
	c connectors.Connector, agents []connectors.Agent, stored map[connectors.AgentID]connectors.Credential, now time.Time,
) []templates.CredentialRow {
	if c.Auth.Type == connectors.AuthNone {
		return nil
	}
	if c.CredentialMode == connectors.CredentialShared {
		row := templates.CredentialRow{Key: "shared", Who: "All agents", Action: connectorPath(c.Slug) + "/credential"}
		return []templates.CredentialRow{withCredential(row, stored, connectors.AgentID{}, now)}
	}
	rows := make([]templates.CredentialRow, len(agents))
	for i, a := range agents {
		rows[i] = withCredential(templates.CredentialRow{
			Key:    a.Slug,
			Who:    a.Name,
			Href:   agentPath(a.Slug),
			Action: connectorPath(c.Slug) + agentPath(a.Slug) + "/credential",
		}, stored, a.ID, now)
	}
	return rows
}

func withCredential(
	row templates.CredentialRow, stored map[connectors.AgentID]connectors.Credential, owner connectors.AgentID, now time.Time,
) templates.CredentialRow {
	c, ok := stored[owner]
	row.State = credentialState(c.Status)
	if !ok {
		return row
	}
	row.Stored = true
	row.Account = c.Account
	row.Changed = when(c.UpdatedAt, now)
	row.LastUsed = whenOrNever(c.LastUsedAt, now)
	row.Error = c.Error
	return row
}

// authSentence says how a server is signed in to.
func authSentence(c connectors.Connector) string {
	whose := "One credential serves all agents."
	if c.CredentialMode == connectors.CredentialPerAgent {
		whose = "Each agent has a credential of its own, and never uses another's."
	}
	switch c.Auth.Type {
	case connectors.AuthNone:
		return "Nothing is sent to prove who is asking."
	case connectors.AuthBearer:
		return "A token is sent as a bearer token. " + whose
	case connectors.AuthAPIKey:
		return "A key is sent in the header " + keyHeader(c) + ". " + whose
	case connectors.AuthBasic:
		return "A user name and a password are sent. " + whose
	default:
		return authName(c.Auth.Type) + ". " + whose
	}
}
