package connectors

import (
	"slices"
	"time"
)

// MailPause is the minimum time between two mails with news to a member.
const MailPause = 5 * time.Minute

// MailChoice is what a member is sent by e-mail.
type MailChoice string

// The choices.
const (
	MailNone      MailChoice = "none"
	MailApprovals MailChoice = "approvals" // calls that wait for approval
	MailAll       MailChoice = "all"       // whatever needs a member
)

// MailChoices are the choices, in display order.
var MailChoices = []MailChoice{MailNone, MailApprovals, MailAll}

// Valid reports whether the choice is known.
func (c MailChoice) Valid() bool { return slices.Contains(MailChoices, c) }

// Kinds are the kinds of notices that the choice includes. Requests for access are for those that decide, decisions for the asker.
func (c MailChoice) Kinds() []NoticeKind {
	switch c {
	case MailApprovals:
		return []NoticeKind{NoticeApproval}
	case MailAll:
		return []NoticeKind{
			NoticeApproval, NoticeAccessRequest, NoticeAccessDecision, NoticeToolChange, NoticeNeedsAuth, NoticeLapsing, NoticeDown, NoticeToolsVanished,
			NoticeWebhookOff, NoticeStreamPaused, NoticeStreamFailing, NoticeStreamGap, NoticeStreamChanged,
		}
	default:
		return nil
	}
}
