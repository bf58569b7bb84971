package connectors

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/internal/toolsync"
	"patchbay/web/templates"
)

// connectorBulk does one thing to all selected connectors. Those before one that fails stay changed.
func (h *Handler) connectorBulk(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	returnTo := respond.OwnPath(f.Text("return_to"), "/connectors")
	text, err := h.changeSelected(r, f, shell.ToRefs(f.Values["connector"]))
	if wrong, ok := shell.AsFormFault(r.Context(), err); ok {
		message := wrong.Message
		if len(wrong.Fields) > 0 {
			message = wrong.Fields[0].Message
		}
		return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Alert, Text: message})
	}
	if asked, err := h.AskBroadGrants(w, r, err); asked || err != nil {
		return err
	}
	return h.Respond.Back(w, r, returnTo, respond.Flash{Kind: respond.Notice, Text: text})
}

// changeSelected returns what was done.
func (h *Handler) changeSelected(r *http.Request, f shell.PostedForm, refs []connectors.Ref) (string, error) {
	ctx, actor, word := r.Context(), shell.Actor(r), f.Text("word")
	if len(refs) == 0 || len(refs) > manage.MaxGrants {
		return "", fault.Errorf(fault.Invalid, "Select 1–%d connectors.", manage.MaxGrants)
	}
	switch do := f.Text("do"); do {
	case "sync":
		return h.queueSelected(r, refs)
	case "enable", "disable":
		return h.enableSelected(r, refs, do == "enable")
	case "tag", "untag":
		tags, none := strings.Fields(strings.ReplaceAll(word, ",", " ")), []string{}
		if len(tags) == 0 {
			return "", fault.Errorf(fault.Invalid, "Enter a tag.")
		}
		added, removed := tags, none
		if do == "untag" {
			added, removed = none, tags
		}
		n, err := h.Registry.TagConnectors(ctx, actor, refs, added, removed)
		return i18n.T(ctx, "%s updated.", i18n.N(ctx, n, "%s connector", "%s connectors")), err
	case "grant":
		agent := f.Text("agent")
		if agent == "" {
			return "", fault.Errorf(fault.Invalid, "Choose an agent.")
		}
		n, err := h.Registry.ChangeGrants(ctx, actor, connectors.Ref(agent), refs, manage.GrantChange{AllTools: true, Sure: f.IsSure()})
		return i18n.N(ctx, n, "Access to %s connector changed.", "Access to %s connectors changed."), err
	}
	return "", fault.Errorf(fault.Invalid, "Choose an action.")
}

// queueSelected queues a sync of each connector that is enabled.
func (h *Handler) queueSelected(r *http.Request, refs []connectors.Ref) (string, error) {
	ctx, actor, queued := r.Context(), shell.Actor(r), 0
	var refused error
	for _, ref := range refs {
		_, err := h.Syncer.Queue(ctx, actor.Tenant.ID, toolsync.Request{Connector: ref, Trigger: connectors.TriggerManual, AuditEvent: new(actor.Event("connector.sync", ""))})
		switch {
		case err == nil:
			queued++
		case fault.Is(err, fault.Conflict):
			refused = err // disabled, or at work already
		default:
			return "", err
		}
	}
	if queued == 0 {
		return "", refused
	}
	return i18n.N(ctx, queued, "Syncing %s connector.", "Syncing %s connectors."), nil
}

func (h *Handler) enableSelected(r *http.Request, refs []connectors.Ref, enabled bool) (string, error) {
	ctx := r.Context()
	for _, ref := range refs {
		if _, _, err := h.Registry.UpdateConnector(ctx, shell.Actor(r), ref, manage.Change{Draft: func(d *connectors.Draft) { d.Enabled = enabled }}); err != nil {
			return "", err
		}
	}
	return i18n.T(ctx, "%s updated.", i18n.N(ctx, len(refs), "%s connector", "%s connectors")), nil
}

// newConnectorBulk is the bar below the list; nil if the person may do nothing of it.
func newConnectorBulk(r *http.Request, agents []connectors.Agent, can templates.Permissions) *templates.ConnectorBulk {
	if !can.Sync {
		return nil
	}
	b := &templates.ConnectorBulk{ReturnTo: shell.WithQuery(r.URL.Path, r.URL.Query()), All: r.URL.Query().Get("choose") == "all", AllHref: shell.ChooseAllPath(r)}
	if can.Manage {
		b.Agents = agentChoices(r.Context(), agents)
	}
	return b
}

func agentChoices(ctx context.Context, agents []connectors.Agent) []templates.Option {
	options := []templates.Option{{Label: i18n.T(ctx, "Choose an agent")}}
	for _, a := range agents {
		options = append(options, templates.Option{Value: a.Slug, Label: a.Name})
	}
	return options
}
