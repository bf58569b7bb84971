package mailing

import (
	"context"
	"slices"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/mail"
	"patchbay/internal/store"
)

const (
	// newsBatch bounds the members of one transaction.
	newsBatch = 200
	// maxNews bounds the notices of a mail.
	maxNews = 20
	// maxApprovals bounds the calls that are read to tell which still wait.
	maxApprovals = 100
)

// QueueNews queues a mail for each member with news.
func (s *Service) QueueNews(ctx context.Context) error {
	for {
		n, err := s.store.System().Mail().QueueMail(ctx, connectors.MailPause, newsBatch)
		if err != nil || n < newsBatch {
			return err
		}
	}
}

// SendNews mails a member the notices since a time that are unread, and of calls those that still wait. It sends
// nothing if none is left, or if the member left or changed their mind.
func (s *Service) SendNews(ctx context.Context, tenant connectors.TenantID, user connectors.UserID, since time.Time) error {
	var to store.MailPreference
	var self connectors.Tenant
	var news []connectors.Notice
	err := s.store.Tenant(tenant).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if to, err = tx.People().MailPreference(ctx, user); err != nil {
			return err
		}
		if self, err = tx.Self(ctx); err != nil {
			return err
		}
		news, err = readNews(ctx, tx, user, to, since)
		return err
	})
	if fault.Is(err, fault.NotFound) || err == nil && (len(news) == 0 || !to.Role.May(connectors.PermOperate)) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.sendMail(ctx, "news", s.newsMail(i18n.With(ctx, i18n.ByCode(to.Language)), to.Email, self.Name, news))
}

func readNews(ctx context.Context, tx *store.Tenant, user connectors.UserID, to store.MailPreference, since time.Time) ([]connectors.Notice, error) {
	list, err := tx.People().Notices(ctx, &user, store.Page{Limit: maxNews})
	if err != nil {
		return nil, err
	}
	needs, err := tx.Lists().AttentionItems(ctx, maxApprovals)
	if err != nil {
		return nil, err
	}
	waiting := map[string]bool{}
	for _, n := range needs.List {
		if n.Kind == connectors.NeedApproval {
			waiting["/approvals/"+n.Call.String()] = true
		}
	}
	requests, err := readRequestNews(ctx, tx, user, to.Role)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(n connectors.Notice) bool {
		isOver := n.Kind == connectors.NoticeApproval && !waiting[n.Link] || !requests.concernsMember(n)
		return n.Read || isOver || !n.At.After(since) || !slices.Contains(to.Choice.Kinds(), n.Kind)
	}), nil
}

func (s *Service) newsMail(ctx context.Context, to, tenant string, news []connectors.Notice) mail.Message {
	m := mail.Message{To: to, Subject: i18n.TranslateKnown(ctx, news[0].Title)}
	if len(news) > 1 {
		m.Subject = i18n.N(ctx, len(news), "%s thing needs you in %s", "%s things need you in %s", tenant)
	}
	var b strings.Builder
	for _, n := range news {
		b.WriteString(i18n.TranslateKnown(ctx, n.Title) + "\n")
		if n.Body != "" {
			b.WriteString(i18n.TranslateKnown(ctx, n.Body) + "\n")
		}
		if n.Link != "" {
			b.WriteString(s.baseURL + n.Link + "\n")
		}
		b.WriteString("\n")
	}
	b.WriteString(i18n.T(ctx, "Change what you're emailed about: %s", s.baseURL+"/account#email") + "\n")
	m.Text = b.String()
	return m
}
