package mailing

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/mail"
	"patchbay/internal/secret"
)

// Invite mails the link of an invitation, in the language of ctx.
func (s *Service) Invite(ctx context.Context, tenant connectors.Tenant, i connectors.Invitation, token secret.Text) error {
	by := i18n.T(ctx, "You're invited to join %s on Patchbay.", tenant.Name)
	if i.InvitedBy != "" {
		by = i18n.T(ctx, "%s invited you to join %s on Patchbay.", i.InvitedBy, tenant.Name)
	}
	return s.sendMail(ctx, "invitation", mail.Message{
		To:      i.Email,
		Subject: i18n.T(ctx, "Join %s on Patchbay", tenant.Name),
		Text:    by + "\n\n" + i18n.T(ctx, "Accept the invitation:") + "\n" + s.baseURL + auth.InvitationPath(token) + "\n\n" + i18n.T(ctx, "The link works once and expires in 72 hours.") + "\n",
	})
}
