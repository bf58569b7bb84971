package admin

import (
	"context"
	"net/http"
	"strings"

	"patchbay/internal/respond"
	"patchbay/internal/sso"
	"patchbay/internal/words"
)

// ssoTry sends an owner to the provider, to see what it says of them.
func (h *Handler) ssoTry(w http.ResponseWriter, r *http.Request) error {
	browser := h.ssoBrowser(r)
	waitLong(w)
	to, err := h.sso.Try(r.Context(), actor(r), browser)
	if problem, ok := mendable(r.Context(), err); ok {
		return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	h.keepBrowser(w, browser)
	return h.leaveToSignIn(w, r, to, "/settings/sso")
}

// trialSaid is what a provider said of the owner who tried it.
func trialSaid(ctx context.Context, t sso.Trial) string {
	said := words.T(ctx, "The connection works: the provider knows you as %s.", t.Email)
	if len(t.Groups) > 0 {
		said += " " + words.T(ctx, "Your groups: %s.", strings.Join(t.Groups, ", "))
	} else {
		said += " " + words.T(ctx, "It names no groups.")
	}
	if t.Role == "" {
		said += " " + words.T(ctx, "They give you no access.")
	} else {
		said += " " + words.T(ctx, "They make you: %s.", roleName(ctx, t.Role))
	}
	if !t.Covered {
		said += " " + words.T(ctx, "Your address is of no domain that is verified.")
	}
	return said
}
