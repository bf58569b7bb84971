package tools

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
	"patchbay/web/templates"
)

// ownPrefix begins the form's value for a trial as oneself; the slug of the agent with the account follows, if any. No slug
// has a colon.
const ownPrefix = ":"

// ownAccount returns the account of a trial as oneself. ok is false if an agent tries the tool.
func ownAccount(value string) (account connectors.Ref, ok bool) {
	slug, ok := strings.CutPrefix(value, ownPrefix)
	return connectors.Ref(slug), ok
}

// hasOwnAccounts reports whether each agent has its own credential.
func hasOwnAccounts(c connectors.Connector) bool {
	return c.CredentialMode == connectors.CredentialPerAgent && c.Auth.Type != connectors.AuthNone
}

// findOwnAccounts lists the agents with an account at a connector, the person's own agents first. It is empty for a person that
// may not use them, and where the credential is shared.
func (h *Handler) findOwnAccounts(r *http.Request, c connectors.Connector) (choices []store.AgentChoice, _ error) {
	actor := shell.Actor(r)
	if !actor.Role.May(connectors.PermManage) || !hasOwnAccounts(c) {
		return nil, nil
	}
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) error {
		stored, err := tx.Accounts().ConnectorAccounts(r.Context(), store.ConnectorAccountFilter{
			Connector: c.ID, State: store.AccountStored, Page: store.Page{Limit: store.MaxLimit},
		})
		if err != nil {
			return err
		}
		for _, a := range stored.Items {
			choices = append(choices, store.AgentChoice{Slug: a.Credential.AgentSlug, Name: a.Credential.AgentName})
		}
		if actor.UserID == nil {
			return nil
		}
		own, err := tx.Agents().PersonalAgents(r.Context(), *actor.UserID)
		isOther := func(a store.AgentChoice) int {
			if slices.ContainsFunc(own, func(p connectors.Agent) bool { return p.Slug == a.Slug }) {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(choices, func(a, b store.AgentChoice) int { return isOther(a) - isOther(b) })
		return err
	})
	return choices, err
}

// runnerOptions are the choices for running the tool: as the person, if they may, or as an agent that was granted it.
func (t testedTool) runnerOptions(ctx context.Context, can templates.Permissions) []templates.Option {
	var list []templates.Option
	switch {
	case !can.Manage:
	case !hasOwnAccounts(t.connector):
		list = append(list, templates.Option{Value: ownPrefix, Label: i18n.T(ctx, "Myself")})
	default:
		for _, a := range t.accounts {
			list = append(list, templates.Option{Value: ownPrefix + a.Slug, Label: i18n.T(ctx, "Myself, with the account of %s", a.Name)})
		}
	}
	for _, a := range t.agents {
		if len(a.Accounts) < 2 {
			list = append(list, templates.Option{Value: a.Slug, Label: a.Name})
			continue
		}
		for _, account := range a.Accounts {
			list = append(list, templates.Option{Value: a.Slug + "." + account, Label: i18n.T(ctx, "%s, account %s", a.Name, account)})
		}
	}
	return list
}

// runOwnTrial makes the call as the person, and stores the result or the question for a confirmation in the trial.
func (h *Handler) runOwnTrial(w http.ResponseWriter, r *http.Request, t *trial, own toolcall.OwnCall) (status int, err error) {
	own.Actor, own.Source = shell.Actor(r), connectors.SourceDashboard
	own.Connector, own.Tool = connectors.Ref(t.tool.connector.ID.String()), t.tool.Name
	call, err := h.Calls.RunOwnCall(r.Context(), own, cmp.Or(t.followed, tryTimeout))
	if f := fault.As(err); f != nil {
		switch {
		case f.Type == toolcall.TypeConfirmationRequired:
			t.question = respond.LocalizedFault(r.Context(), err).Message
			return http.StatusConflict, nil
		case f.Kind == fault.Denied, f.Kind == fault.NotFound, len(f.Fields) > 0:
			t.form.Errors = map[string]string{"agent": respond.LocalizedFault(r.Context(), err).Message}
			return respond.Status(f.Kind), nil
		}
	}
	return t.finishTrial(w, r, call, len(t.tool.decoded.OutputSchema) > 0, err)
}
