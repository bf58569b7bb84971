package admin

import (
	"net/http"
	"net/url"

	"patchbay/internal/auth"
	"patchbay/internal/authserver"
	"patchbay/internal/connectors"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
)

// authorizeDecide takes a person's answer to a program, and sends the browser to the program with it. The request is read anew: what was shown is
// what is answered, unless the program's description has changed, and then it is refused.
func (h *Handler) authorizeDecide(w http.ResponseWriter, r *http.Request) error {
	asked, err := h.asked(w, r)
	if err != nil {
		return err
	}
	f, err := readForm(r)
	if err != nil {
		return err
	}
	if f.text("decision") != "allow" {
		return leaveFor(w, r, asked, h.programs.Deny(asked))
	}
	who, err := within(r, f.text("tenant"))
	if err != nil {
		return err
	}
	if h.asksFirst(who, asked) {
		return h.confirmFirst(w, r)
	}
	choice := authserver.Choice{Agent: chosenAgent(f), Scope: connectors.ClientScope(f.text("scope"))}
	to, err := h.programs.Allow(r.Context(), who, asked, choice)
	if problem, ok := mendable(r.Context(), err); ok {
		return h.authorizePage(w, r, who, asked, f.again(problem), respond.Status(problem.Kind))
	}
	if err != nil {
		return err
	}
	return leaveFor(w, r, asked, to)
}

// asksFirst tells whether somebody confirms who they are before a program is let in: whoever manages agents could let it be any of them, for as
// long as the program likes; and whoever lets one act as themselves. For others it is an agent of their own that an admin has yet to grant something.
func (h *Handler) asksFirst(who auth.Actor, asked authserver.Request) bool {
	return (asked.AsMember() || who.Role.May(connectors.PermManage)) && h.auth.RequireConfirmed(who) != nil
}

// confirmFirst leads over the page that asks back to the question. The answer itself cannot be held there: it leads out of Patchbay.
func (h *Handler) confirmFirst(w http.ResponseWriter, r *http.Request) error {
	return respond.See(w, r, "/confirm?"+url.Values{"return_to": {r.URL.RequestURI()}}.Encode())
}

func leaveFor(w http.ResponseWriter, r *http.Request, asked authserver.Request, to string) error {
	allowAnswer(w.Header(), asked.RedirectURI)
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// allowAnswer lets the page's form lead to where the answer goes, and from there to any secure site: browsers hold every redirect that follows a
// form against its page's policy.
func allowAnswer(header http.Header, redirectURI string) {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil:
	case u.Scheme == "https":
		middleware.AllowFormsTo(header, "https:")
	case u.Scheme == "http" && u.Hostname() != "::1":
		middleware.AllowFormsTo(header, "https:", "http://"+u.Host)
	default: // a policy has no words for an IPv6 address
		middleware.AllowFormsTo(header, "https:", u.Scheme+":")
	}
}

// chosenAgent is the agent of the form; empty: a new one.
func chosenAgent(f form) connectors.Ref {
	if agent := f.text("agent"); agent != newAgent {
		return connectors.Ref(agent)
	}
	return ""
}
