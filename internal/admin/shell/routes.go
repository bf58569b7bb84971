package shell

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/respond"
)

// Routes are the groups to which pages add their routes, by what a request needs.
type Routes struct {
	Public    Group // no session
	Enrolling Group // a session, even if its person has yet to set up a required second factor
	Viewers   Group // a session and at least that role, as below
	Members   Group
	Admins    Group
	Auditors  Group // also admins and owners
	Owners    Group
}

// Group adds routes that need the same.
type Group struct {
	router   chi.Router
	shell    *Shell
	confirms bool // dangerous actions ask for a confirmation
}

// PublicGroup returns a group that asks for nothing.
func (h *Shell) PublicGroup(r chi.Router) Group { return Group{router: r, shell: h} }

// GroupFor returns a group behind a check of the role, so that a refusal comes before any read.
func (h *Shell) GroupFor(r chi.Router, p connectors.Permission) Group {
	check := func(next http.Handler) http.Handler {
		return h.Respond.Browser(func(w http.ResponseWriter, r *http.Request) error {
			if err := Actor(r).Require(p); err != nil {
				return err
			}
			next.ServeHTTP(w, r)
			return nil
		})
	}
	return Group{router: r.With(check), shell: h, confirms: true}
}

// Get adds a page.
func (g Group) Get(path string, f respond.HandlerFunc) {
	if g.confirms && ConfirmRules["GET "+path].Confirms {
		f = g.shell.requireConfirmation("GET "+path, nil, f)
	}
	g.router.Get(path, g.shell.Respond.Browser(f))
}

// Post adds an action. It asks for a confirmation as ConfirmRules say.
func (g Group) Post(path string, f respond.HandlerFunc) { g.PostUnless(path, nil, f) }

// PostUnless is Post, but asks for no confirmation if harmless reports that this form needs none.
func (g Group) PostUnless(path string, harmless func(*http.Request) (bool, error), f respond.HandlerFunc) {
	route := "POST " + path
	if g.confirms {
		f = g.shell.requireConfirmation(route, harmless, f)
	}
	f = g.shell.answerAsk(route, harmless, f)
	if g.confirms {
		f = g.shell.restoreUnsent(f)
	}
	g.router.Post(path, g.shell.Respond.Browser(f))
}
