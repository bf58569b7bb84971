package people

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// mailSave stores what the person is sent by e-mail, in the language of the page.
func (h *Handler) mailSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	err = h.Auth.SetMailPreference(r.Context(), shell.Actor(r), connectors.MailChoice(f.Text("mail")), i18n.FromContext(r.Context()).Code)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok && problem.Kind == fault.Invalid {
		return h.accountPage(w, r, f, problem)
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/account#email", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Email notifications saved.")})
}

// mailPanel is nil where no e-mail is sent, and for roles that nothing needs.
func (h *Handler) mailPanel(r *http.Request) (*templates.MailPanel, error) {
	a := shell.Actor(r)
	if !h.Mailing.Enabled() || a.UserID == nil || !a.Role.May(connectors.PermOperate) {
		return nil, nil
	}
	chosen, err := h.TenantStore(r).People().MailPreference(r.Context(), *a.UserID)
	if err != nil {
		return nil, err
	}
	return &templates.MailPanel{
		Tenant: a.Tenant.Name, Choices: mailOptions(r.Context()), Form: templates.Form{Values: map[string]string{"mail": string(chosen.Choice)}},
	}, nil
}

func mailOptions(ctx context.Context) []templates.Option {
	return []templates.Option{
		{Value: string(connectors.MailNone), Label: i18n.T(ctx, "Nothing")},
		{Value: string(connectors.MailApprovals), Label: i18n.T(ctx, "Calls waiting for approval")},
		{Value: string(connectors.MailAll), Label: i18n.T(ctx, "Everything that needs me")},
	}
}
