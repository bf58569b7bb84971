package admin

import (
	"cmp"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// credentialList shows who can use a connector, never with what secret.
func (h *Handler) credentialList(w http.ResponseWriter, r *http.Request) error {
	c, err := h.tenant(r).Connector(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	return h.credentialsPage(w, r, c, credentialsNews{})
}

// credentialsNews is what an action has to say on the page, where it does not lead elsewhere.
type credentialsNews struct {
	status    int    // 0: 200
	alert     string // empty: none
	link      *templates.ConnectLink
	diagnosis *templates.Diagnosis

	// A form that was refused: whose it was, and why.
	row     string // the row's key
	form    form
	problem *fault.Error
}

func (h *Handler) credentialsPage(w http.ResponseWriter, r *http.Request, c connectors.Connector, news credentialsNews) error {
	held, err := h.holdings(r, c)
	if err != nil {
		return err
	}
	agents, err := h.tenant(r).Agents(r.Context(), pageOf(r))
	if err != nil {
		return err
	}
	if held.whose, err = h.whose(r, c, agents.Items); err != nil {
		return err
	}
	page := templates.ConnectorCredentialsPage{
		Frame:     h.connectorFrame(r, c, words.T(r.Context(), "Credentials")),
		Head:      connectorHead(r.Context(), c, templates.TabCredentials),
		Auth:      c.Auth.Type,
		Mode:      c.CredentialMode,
		About:     authSentence(r.Context(), c),
		Rows:      credentialRows(r.Context(), c, agents.Items, held, h.now()),
		Agents:    len(agents.Items) > 0,
		Link:      news.link,
		Diagnosis: news.diagnosis,
	}
	if c.CredentialMode == connectors.CredentialPerAgent {
		page.Pager = pager(r, agents.Next)
	}
	if r.Method == http.MethodPost {
		page.Frame.Path = credentialsPath(c.Slug) // what the page's forms come back to
	}
	if news.alert != "" {
		page.Frame.Flash = &templates.Flash{Kind: templates.FlashAlert, Text: news.alert}
	}
	if page.Diagnosis == nil && page.Frame.Can.Manage && signsInByOAuth(c) {
		page.Diagnosis = h.diagnosis(r.Context(), c, nil)
	}
	for i := range page.Rows {
		if news.problem != nil && page.Rows[i].Key == news.row {
			page.Rows[i].Form = news.form.again(news.problem)
			page.Rows[i].Open = true
		}
	}
	return h.respond.Page(w, r, cmp.Or(news.status, http.StatusOK), templates.ConnectorCredentials(page))
}

// whose are the members to whom agents belong that have an account each: no link connects those.
func (h *Handler) whose(r *http.Request, c connectors.Connector, agents []connectors.Agent) (map[connectors.AgentID]connectors.Member, error) {
	if c.CredentialMode != connectors.CredentialPerAgent || c.Auth.Type != connectors.AuthOAuth2 {
		return nil, nil
	}
	ids := make([]connectors.AgentID, len(agents))
	for i, a := range agents {
		ids[i] = a.ID
	}
	return h.tenant(r).AgentsOfMembers(r.Context(), ids...)
}

// signsInByOAuth tells whether there is an authorization server to look for.
func signsInByOAuth(c connectors.Connector) bool {
	switch c.Auth.Type {
	case connectors.AuthOAuth2, connectors.AuthClientCredentials, connectors.AuthPrivateKeyJWT:
		return true
	default:
		return false
	}
}

// holdings reads all of a connector's credentials, without their secrets.
func (h *Handler) holdings(r *http.Request, c connectors.Connector) (holdings, error) {
	held := holdings{stored: map[connectors.AgentID]connectors.Credential{}, lapses: map[string]time.Time{}}
	for page := (store.Page{Limit: 200}); ; {
		list, err := h.tenant(r).Credentials(r.Context(), c.ID, page)
		if err != nil {
			return holdings{}, err
		}
		if err := actor(r).HideAccounts(r.Context(), h.tenant(r), list.Items); err != nil {
			return holdings{}, err
		}
		for _, one := range list.Items {
			held.stored[ownerOf(one)] = one
		}
		if page.Cursor = list.Next; page.Cursor == "" {
			break
		}
	}
	if c.Auth.Type != connectors.AuthOAuth2 || len(held.stored) == 0 {
		return held, nil
	}
	soon, err := h.tenant(r).ExpiringCredentials(r.Context(), foresight, maxLapsing)
	if err != nil {
		return holdings{}, err
	}
	for _, one := range soon {
		if one.ConnectorSlug == c.Slug {
			held.lapses[one.AgentSlug] = one.EndsAt
		}
	}
	return held, nil
}

func ownerOf(c connectors.Credential) connectors.AgentID {
	if c.AgentID == nil {
		return connectors.AgentID{}
	}
	return *c.AgentID
}

// credentialRefused shows a credential's form again, with what is wrong.
func (h *Handler) credentialRefused(w http.ResponseWriter, r *http.Request, c connectors.Connector, row string, f form, problem *fault.Error) error {
	return h.credentialsPage(w, r, c, credentialsNews{status: respond.Status(problem.Kind), row: row, form: f, problem: problem})
}
