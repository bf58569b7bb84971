package signin

import (
	"net/http"
	"net/url"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/connectors"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
)

// authorizeDecide records a person's decision and redirects the browser to the program with it. The request is
// read again. If the program's metadata changed since the page was shown, the decision is refused.
func (h *Handler) authorizeDecide(w http.ResponseWriter, r *http.Request) error {
	request, err := h.readAuthorizeRequest(w, r)
	if err != nil {
		return err
	}
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	if f.Text("decision") != "allow" {
		return redirectToProgram(w, r, request, h.AuthServer.Deny(request))
	}
	person, err := actorInTenant(r, f.Text("tenant"))
	if err != nil {
		return err
	}
	if h.requiresConfirmation(person, request) {
		return h.redirectToConfirm(w, r)
	}
	choice := authserver.Choice{Agent: chosenAgent(f), Scope: connectors.ClientScope(f.Text("scope"))}
	to, err := h.AuthServer.Allow(r.Context(), person, request, choice)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.authorizePage(w, r, person, request, f.ToForm(problem), respond.Status(problem.Kind))
	}
	if err != nil {
		return err
	}
	return redirectToProgram(w, r, request, to)
}

// requiresConfirmation reports whether a person confirms their identity before consent. A manager could give
// the program any agent, and a member could let it act as themselves. Otherwise the program becomes an agent
// without grants.
func (h *Handler) requiresConfirmation(person auth.Actor, request authserver.Request) bool {
	return (request.AsMember() || person.Role.May(connectors.PermManage)) && h.Auth.RequireRecentAuth(person) != nil
}

// redirectToConfirm leads through the confirmation page back to the consent page. The decision cannot be held
// in the confirmation form, because it leads out of Patchbay.
func (h *Handler) redirectToConfirm(w http.ResponseWriter, r *http.Request) error {
	return respond.See(w, r, "/confirm?"+url.Values{"return_to": {r.URL.RequestURI()}}.Encode())
}

func redirectToProgram(w http.ResponseWriter, r *http.Request, request authserver.Request, to string) error {
	allowFormRedirect(w.Header(), request.RedirectURI)
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// allowFormRedirect allows the page's form to redirect to redirectURI, and from there to any https site.
// Browsers check every redirect after a form against the page's form-action.
func allowFormRedirect(header http.Header, redirectURI string) {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil:
	case u.Scheme == "https":
		middleware.AllowFormsTo(header, "https:")
	case u.Scheme == "http" && u.Hostname() != "::1":
		middleware.AllowFormsTo(header, "https:", "http://"+u.Host)
	default: // a content security policy cannot name an IPv6 address
		middleware.AllowFormsTo(header, "https:", u.Scheme+":")
	}
}

// chosenAgent reads the agent from the form; empty for a new one.
func chosenAgent(f shell.PostedForm) connectors.Ref {
	if agent := f.Text("agent"); agent != newAgentChoice {
		return connectors.Ref(agent)
	}
	return ""
}
