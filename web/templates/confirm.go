package templates

import (
	"context"
	"strconv"
	"time"

	"patchbay/internal/i18n"
)

// ConfirmPage asks the person to confirm their identity before a dangerous action. Its form sends
// confirm_password, confirm_code and the held fields to Action.
type ConfirmPage struct {
	Frame  Frame
	Form   Form
	Email  string // of the person
	Act    string // after "to": "delete this agent"
	Action string // empty: no action waits
	Held   []HiddenField
	Factor bool   // a code is required too
	BySSO  bool   // the SSO provider confirms
	Back   string // where the action began
}

// HiddenField is a field of the held form.
type HiddenField struct{ Name, Value string }

func (p ConfirmPage) confirmSentence(ctx context.Context) string {
	act := p.Act
	if act == "" {
		act = i18n.T(ctx, "continue")
	}
	if p.BySSO {
		return i18n.T(ctx, "Sign in again to %s.", act)
	}
	return i18n.T(ctx, "Confirm your password to %s.", act)
}

// dialogDeed says what the dialog's form does: it confirms, or asks again after a sign-in elsewhere.
func (p ConfirmPage) dialogDeed() string {
	if p.BySSO {
		return "again"
	}
	return "confirm"
}

// confirmedUntil is the time in milliseconds until which no dangerous action asks.
func (f Frame) confirmedUntil() string {
	if f.ConfirmedUntil.IsZero() {
		return ""
	}
	return strconv.FormatInt(f.ConfirmedUntil.Truncate(time.Second).UnixMilli(), 10)
}
