package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// MailPreference is what a member is sent by e-mail.
type MailPreference struct {
	Choice   connectors.MailChoice
	Language string // a code
	Role     connectors.Role
	Email    string
}

// MailPreference reads a member's choice.
func (t People) MailPreference(ctx context.Context, user connectors.UserID) (MailPreference, error) {
	r, err := t.q.MailPreference(ctx, t.id, user)
	if err != nil {
		return MailPreference{}, rowError(err, "member")
	}
	return MailPreference{Choice: r.Mail, Language: r.MailLanguage, Role: r.Role, Email: r.Email}, nil
}

// SetMailPreference stores a member's choice. Notices from before [connectors.MailPause] are not sent.
func (t People) SetMailPreference(ctx context.Context, user connectors.UserID, choice connectors.MailChoice, language string) error {
	n, err := t.q.SetMailPreference(ctx, dbgen.SetMailPreferenceParams{
		Mail: choice, MailLanguage: language, Pause: connectors.MailPause.Seconds(), TenantID: t.id, UserID: user,
	})
	return affectedError(n, err, "member")
}
