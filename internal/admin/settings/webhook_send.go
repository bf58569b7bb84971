package settings

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// webhookTest sends a test delivery, and shows its result.
func (h *Handler) webhookTest(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.findWebhook(r)
	if err != nil {
		return err
	}
	d, err := h.Webhooks.Test(r.Context(), shell.Actor(r), hook.ID)
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Test delivered in %s.", shell.FormatDuration(r.Context(), d.Duration))}
	switch d.State {
	case connectors.DeliveryDelivered:
	case connectors.DeliveryWaiting:
		flash.Text = i18n.T(r.Context(), "Test queued behind other deliveries; sent within minutes.")
	default:
		flash = respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "Test failed: %s", d.Error)}
	}
	return h.Respond.Back(w, r, webhookPath(hook.ID), flash)
}

func (h *Handler) webhookRedeliver(w http.ResponseWriter, r *http.Request) error {
	hook, err := h.findWebhook(r)
	if err != nil {
		return err
	}
	id, ok := shell.PathRef(r, "delivery").UUID()
	if !ok {
		return fault.Errorf(fault.NotFound, "No such delivery.")
	}
	_, err = h.Webhooks.Redeliver(r.Context(), shell.Actor(r), hook.ID, connectors.DeliveryID{UUID: id})
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, webhookPath(hook.ID), respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, webhookPath(hook.ID), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Resending. Reload to see the result.")})
}
