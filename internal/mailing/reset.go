package mailing

import (
	"context"
	"strings"

	"patchbay/internal/i18n"
	"patchbay/internal/mail"
)

// SendResets mails an address the links to set a new password, one for each of its accounts. Without an account it
// sends nothing.
func (s *Service) SendResets(ctx context.Context, address, language string) error {
	ctx = i18n.With(ctx, i18n.ByCode(language))
	links, err := s.auth.NewResetLinks(ctx, address)
	if err != nil || len(links) == 0 {
		return err
	}
	var b strings.Builder
	b.WriteString(i18n.T(ctx, "Someone asked to reset the password of this address on Patchbay.") + "\n\n")
	for _, l := range links {
		if l.Only != "" {
			b.WriteString(i18n.T(ctx, "Set a new password for %s:", l.Only))
		} else {
			b.WriteString(i18n.T(ctx, "Set a new password:"))
		}
		b.WriteString("\n" + s.baseURL + l.Path + "\n\n")
	}
	b.WriteString(i18n.T(ctx, "The link works once and expires in an hour. If this wasn't you, ignore this email: nothing has changed.") + "\n")
	return s.sendMail(ctx, "password_reset", mail.Message{To: links[0].Email, Subject: i18n.T(ctx, "Reset your Patchbay password"), Text: b.String()})
}
