package toolcall

import (
	"context"
	"log/slog"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// mailboxes send messages to processes that run another part of a call.
type mailboxes struct {
	o *Options
}

func (m *mailboxes) newMail(v *agentview.View, box string, message []byte) store.NewMail {
	return store.NewMail{AgentID: v.Agent.ID, Box: box, Message: secret.Text(message), ExpiresAt: m.o.Now().Add(mailTTL)}
}

// putMail stores a message once. If the database is away, the request waits for it.
func (m *mailboxes) putMail(ctx context.Context, wait *store.WaitBudget, t connectors.TenantID, mail store.NewMail) error {
	if mail.ID == uuid.Nil {
		mail.ID = store.NewMailID()
	}
	return m.o.Store.Retry(ctx, wait, func(ctx context.Context) error { return m.o.Store.Tenant(t).Calls().PutMail(ctx, mail) })
}

// putBegunMail is putMail for a call that has begun. An error is only logged.
func (m *mailboxes) putBegunMail(ctx context.Context, v *agentview.View, mail store.NewMail) {
	mail.ID = store.NewMailID()
	m.o.logUnsaved(ctx, m.o.Store.RetryStarted(ctx, func(ctx context.Context) error { return m.o.Store.Tenant(v.Tenant.ID).Calls().PutMail(ctx, mail) }))
}

// logUnsaved logs an error of a write that no request waits for. nil is not logged.
func (o *Options) logUnsaved(ctx context.Context, err error) {
	if err != nil {
		o.Log.WarnContext(ctx, "state of a call not saved", slog.Any("error", err))
	}
}
