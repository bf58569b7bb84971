// Package mailing writes the e-mail that people get: invitations, links to set a new password, and news.
//
//	Invite        the link of an invitation, sent while the owner waits (invite.go)
//	SendResets    a link for each account of an address; a job (reset.go)
//	QueueNews     queues a mail for members with news; periodic (news.go)
//	SendNews      the unread notices of a member since a time; a job, with retries (news.go)
//
// Mails are plain text in the reader's language. Without an SMTP server a [Service] is nil, and [Service.Enabled] is
// false.
package mailing
