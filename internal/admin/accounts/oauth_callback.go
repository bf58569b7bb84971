package accounts

import (
	"context"
	"net/http"
	"strings"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// DefaultSyncWait is how long the browser waits for the first sync, which goes on after it.
const DefaultSyncWait = 10 * time.Second

// oauthCallback is the redirect target of authorization servers. Its address holds a code and a state: it is
// logged without its query, and its pages send no Referer.
func (h *Handler) oauthCallback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	if r.Method == http.MethodHead {
		return nil // a HEAD request does not use the code up
	}
	browser, err := h.readCallbackBrowser(r)
	if err != nil {
		return err
	}
	shell.ClearWriteDeadline(w)
	done, err := h.Connect.Finish(r.Context(), r.URL.Query(), browser)
	switch {
	case err != nil:
		return h.showNotConnected(w, r, done, browser.Person != nil, err)
	case done.Restarted != nil:
		http.Redirect(w, r, done.Restarted.AuthorizeURL, http.StatusSeeOther)
		return nil
	}
	return h.Respond.Back(w, r, returnPath(done), h.connectedFlash(r, done))
}

// readCallbackBrowser reads what identifies the browser: its session, its person, and the cookie of a sent
// link.
func (h *Handler) readCallbackBrowser(r *http.Request) (connect.BrowserBindings, error) {
	b := connect.BrowserBindings{Session: h.sessionBinding(r), Cookie: h.linkBinding(r)}
	ctx, _, err := h.Auth.IdentifyPerson(r)
	switch {
	case err == nil:
		person, _ := auth.ActorFrom(ctx)
		b.Person = &person
	case !fault.Is(err, fault.Unauthenticated):
		return connect.BrowserBindings{}, err
	}
	return b, nil
}

// returnPath is the page at which a connection ends.
func returnPath(done connect.Connection) string {
	switch {
	case done.ReturnTo != "":
		return done.ReturnTo
	case done.ByLink:
		return "/connect/done"
	default:
		return shell.CredentialsPath(done.Connector.Slug)
	}
}

// connectedFlash says that the account is connected, and how the first sync went. A failed sync does not fail
// the connection.
func (h *Handler) connectedFlash(r *http.Request, done connect.Connection) respond.Flash {
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Connected “%s”.", done.Connector.Name)}
	account := shell.CleanText(done.Account)
	if name := connectors.GivenName(done.Name); name != "" {
		account = strings.TrimSuffix(name+" · "+account, " · ")
	}
	if account != "" {
		flash.Text = i18n.T(r.Context(), "Connected “%s” as %s.", done.Connector.Name, account)
	}
	if done.Run == nil {
		return flash
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.SyncWait)
	defer cancel()
	run, err := h.Syncer.Await(ctx, done.Tenant, *done.Run)
	switch {
	case ctx.Err() != nil || err == nil && run.FinishedAt == nil:
		flash.Text += " " + i18n.T(r.Context(), "Syncing tools.")
	case err != nil:
		flash = respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "%s Sync failed: %s", flash.Text, h.Respond.Sentence(r, err))}
	case run.State == connectors.SyncFailed:
		flash = respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "%s Sync failed: %s", flash.Text, i18n.TranslateKnown(r.Context(), run.ErrorMessage))}
		if !done.ByLink { // the visitor of a link is no member
			flash.Said = run.Upstream
		}
	case run.State == connectors.SyncCancelled:
	default:
		flash.Text += " " + i18n.N(r.Context(), run.Counts.Total, "Discovered %s tool.", "Discovered %s tools.")
	}
	return flash
}

// showNotConnected says why nothing was connected. A member that declined is back at the connector, where they can try again.
func (h *Handler) showNotConnected(w http.ResponseWriter, r *http.Request, done connect.Connection, signedIn bool, err error) error {
	f := respond.LocalizedFault(r.Context(), err)
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		return err
	}
	var links []templates.Link
	switch known := signedIn && !done.ByLink && done.Connector.Slug != ""; {
	case known && f.Kind == fault.Denied:
		return h.Respond.Back(w, r, returnPath(done), respond.Flash{
			Kind: respond.Alert, Text: i18n.T(r.Context(), "You declined to connect “%s”. Nothing was stored.", done.Connector.Name),
		})
	case known:
		links = []templates.Link{{Text: i18n.T(r.Context(), "Back to “%s”", done.Connector.Name), Href: returnPath(done)}}
	case signedIn:
		links = []templates.Link{{Text: i18n.T(r.Context(), "Go to connectors"), Href: "/connectors"}}
	}
	if f.Kind == fault.Denied {
		return h.Respond.Page(w, r, http.StatusOK, templates.Said(templates.SaidPage{
			Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Not connected")), Title: i18n.T(r.Context(), "Not connected"), Text: f.Message, Links: links,
		}))
	}
	page := templates.ErrorPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Not connected")), Status: respond.Status(f.Kind), Title: i18n.T(r.Context(), "Not connected"), Text: f.Message, Links: links,
	}
	if signedIn {
		page.Said = respond.NewQuote(r.Context(), connectors.UpstreamOf(f.Remote))
	}
	return h.Respond.Page(w, r, respond.Status(f.Kind), templates.Error(page))
}
