package signin

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// forgotShow asks for an address.
func (h *Handler) forgotShow(w http.ResponseWriter, r *http.Request) error {
	return h.forgotPage(w, r, http.StatusOK, templates.ForgotPage{})
}

// forgotFinish queues a mail. The page says the same whether the address has an account or not.
func (h *Handler) forgotFinish(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	if !h.Mailing.Enabled() {
		return errNoMail()
	}
	email := f.Text("email")
	err = h.Auth.RequestReset(r.Context(), email, i18n.FromContext(r.Context()).Code, auth.Address(r))
	if err == nil {
		return h.forgotPage(w, r, http.StatusOK, templates.ForgotPage{Sent: auth.NormalizeEmail(email)})
	}
	refused := respond.LocalizedFault(r.Context(), err)
	if refused.Kind == fault.Internal {
		return err
	}
	respond.SetRetryAfter(w.Header(), refused)
	return h.forgotPage(w, r, respond.Status(refused.Kind), templates.ForgotPage{Form: f.ToForm(refused)})
}

func (h *Handler) forgotPage(w http.ResponseWriter, r *http.Request, status int, p templates.ForgotPage) error {
	if !h.Mailing.Enabled() {
		return errNoMail()
	}
	p.Frame = h.SignedOutFrame(r, i18n.T(r.Context(), "Reset your password"))
	return h.Respond.Page(w, r, status, templates.Forgot(p))
}

func errNoMail() error {
	return fault.Errorf(fault.NotFound, "Patchbay sends no email here. Ask an owner.")
}

// resetShow is the page of the link. A GET does not use the link up, because mail programs load links.
func (h *Handler) resetShow(w http.ResponseWriter, r *http.Request) error {
	return h.resetPage(w, r, http.StatusOK, secret.Text(r.URL.Query().Get("token")), templates.Form{})
}

// resetFinish sets the new password. The person signs in with it, by a second factor if they have one.
func (h *Handler) resetFinish(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	token := f.Secret("token")
	err = h.Auth.ResetPassword(r.Context(), token, f.Secret("new_password"), auth.Address(r))
	if err == nil {
		if err := h.Auth.EndSession(r.Context()); err != nil {
			return err
		}
		h.Respond.Say(r.Context(), respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Password changed. Sign in with it.")})
		return respond.See(w, r, "/login")
	}
	refused := respond.LocalizedFault(r.Context(), err)
	switch refused.Kind {
	case fault.Internal:
		return err
	case fault.NotFound, fault.RateLimited:
		return h.renderResetError(w, r, refused)
	}
	respond.SetRetryAfter(w.Header(), refused)
	return h.resetPage(w, r, respond.Status(refused.Kind), token, f.ToForm(refused))
}

func (h *Handler) resetPage(w http.ResponseWriter, r *http.Request, status int, token secret.Text, f templates.Form) error {
	reset, err := h.Auth.Reset(r.Context(), token, auth.Address(r))
	if err != nil {
		return h.renderResetError(w, r, respond.LocalizedFault(r.Context(), err))
	}
	return h.Respond.Page(w, r, status, templates.Reset(templates.ResetPage{
		Frame: h.SignedOutFrame(r, i18n.T(r.Context(), "Set a new password")), Form: f, Token: token.Reveal(), Email: reset.Email,
	}))
}

// renderResetError says why a link is not valid, and leads to a new one.
func (h *Handler) renderResetError(w http.ResponseWriter, r *http.Request, f *fault.Error) error {
	if f.Kind != fault.NotFound && f.Kind != fault.RateLimited {
		return f
	}
	title, links := i18n.T(r.Context(), "Invalid link"), []templates.Link{{Text: i18n.T(r.Context(), "Sign in"), Href: "/login"}}
	if f.Kind == fault.RateLimited {
		title = i18n.T(r.Context(), "Too many attempts")
	} else if h.Mailing.Enabled() {
		links = append([]templates.Link{{Text: i18n.T(r.Context(), "Request a new link"), Href: "/forgot"}}, links...)
	}
	respond.SetRetryAfter(w.Header(), f)
	return h.Respond.Page(w, r, respond.Status(f.Kind), templates.Error(templates.ErrorPage{
		Frame: h.SignedOutFrame(r, title), Status: respond.Status(f.Kind), Title: title, Text: f.Message, Links: links,
	}))
}
