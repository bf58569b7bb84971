package admin

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// syncPatience is how long a browser that comes back waits for its tools, where the options do not say. The sync goes on without
// it.
const syncPatience = 10 * time.Second

// oauthCallback is where authorization servers send browsers back to. Its address holds a code and a state: it is logged
// without its query, and no page that it shows or leads to tells anybody where it was reached from.
func (h *Handler) oauthCallback(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	if r.Method == http.MethodHead {
		return nil // who only looks does not use the answer up
	}
	browser, err := h.returning(r)
	if err != nil {
		return err
	}
	waitLong(w)
	done, err := h.connect.Finish(r.Context(), r.URL.Query(), browser)
	switch {
	case err != nil:
		return h.notConnected(w, r, browser.Person != nil, err)
	case done.Again != nil:
		http.Redirect(w, r, done.Again.AuthorizeURL, http.StatusSeeOther)
		return nil
	}
	return h.respond.Back(w, r, landing(done), h.connected(r, done))
}

// returning is what a callback's browser has: its session and who is signed in there, the cookie of a sent link.
func (h *Handler) returning(r *http.Request) (connect.Browser, error) {
	b := connect.Browser{Session: h.session(r), Cookie: h.visitor(r)}
	ctx, _, err := h.auth.IdentifyPerson(r)
	switch {
	case err == nil:
		person, _ := auth.ActorFrom(ctx)
		b.Person = &person
	case !fault.Is(err, fault.Unauthenticated):
		return connect.Browser{}, err
	}
	return b, nil
}

// landing is where a connection ends.
func landing(done connect.Finished) string {
	switch {
	case done.ReturnTo != "":
		return done.ReturnTo
	case done.ByLink:
		return "/connect/done"
	default:
		return credentialsPath(done.Connector.Slug)
	}
}

// connected says that it worked, and how the sync went that follows. A sync that fails is no failure of the connection.
func (h *Handler) connected(r *http.Request, done connect.Finished) respond.Flash {
	flash := respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "Connected '%s'.", done.Connector.Name)}
	if done.Run == nil {
		return flash
	}
	ctx, cancel := context.WithTimeout(r.Context(), h.patience)
	defer cancel()
	run, err := h.syncer.Await(ctx, done.Tenant, *done.Run)
	switch {
	case ctx.Err() != nil || err == nil && run.FinishedAt == nil:
		flash.Text += " " + words.T(r.Context(), "Its tools are being read.")
	case err != nil:
		flash = respond.Flash{Kind: respond.Alert, Text: words.T(r.Context(), "%s The sync failed: %s", flash.Text, h.respond.Sentence(r, err))}
	case run.State == connectors.SyncFailed:
		flash = respond.Flash{Kind: respond.Alert, Text: words.T(r.Context(), "%s The sync failed: %s", flash.Text, run.ErrorMessage)}
	default:
		flash.Text += " " + words.T(r.Context(), "Discovered %d tools.", run.Counts.Total)
	}
	return flash
}

// notConnected says why nothing was connected. That a person said no is no failure; everything else is.
func (h *Handler) notConnected(w http.ResponseWriter, r *http.Request, signedIn bool, err error) error {
	f := respond.Told(r.Context(), err)
	if f.Kind == fault.Internal || f.Kind == fault.Unavailable {
		return err
	}
	var links []templates.Link
	if signedIn {
		links = []templates.Link{{Text: words.T(r.Context(), "Go to the connectors"), Href: "/connectors"}}
	}
	if f.Kind == fault.Denied {
		return h.respond.Page(w, r, http.StatusOK, templates.Said(templates.SaidPage{
			Frame: h.door(r, words.T(r.Context(), "Not connected")), Title: words.T(r.Context(), "Not connected"), Text: f.Message, Links: links,
		}))
	}
	return h.respond.Page(w, r, respond.Status(f.Kind), templates.Error(templates.ErrorPage{
		Frame: h.door(r, words.T(r.Context(), "Not connected")), Status: respond.Status(f.Kind), Title: words.T(r.Context(), "Not connected"), Text: f.Message, Links: links,
	}))
}
