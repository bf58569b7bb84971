package admin

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/sso"
)

// ssoTest redirects an owner to the provider, to test the settings.
func (h *Handler) ssoTest(w http.ResponseWriter, r *http.Request) error {
	browser := h.ensureSSOBrowser(r)
	clearWriteDeadline(w)
	to, err := h.sso.Try(r.Context(), actor(r), browser)
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	h.setSSOCookie(w, browser)
	return h.redirectToProvider(w, r, to, "/settings/sso")
}

// trialText says what a provider reported about the owner.
func trialText(ctx context.Context, t sso.Trial) string {
	text := i18n.T(ctx, "The connection works: the provider knows you as %s.", t.Email)
	if len(t.Groups) > 0 {
		text += " " + i18n.T(ctx, "Your groups: %s.", strings.Join(t.Groups, ", "))
	} else {
		text += " " + i18n.T(ctx, "It names no groups.")
	}
	if t.Role == "" {
		text += " " + i18n.T(ctx, "They give you no access.")
	} else {
		text += " " + i18n.T(ctx, "They make you: %s.", roleName(ctx, t.Role))
	}
	if !t.Covered {
		text += " " + i18n.T(ctx, "Your address is of no domain that is verified.")
	}
	return text
}
