package gateway

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// noticeReadTimeout bounds the read of the notifications for a session.
const noticeReadTimeout = 10 * time.Second

// watchNotices signals that other processes, or calls of this one, have notifications for a legacy session; nil for other
// clients. Those from before its stream are not read: most streams never have one, and a read for each is a query.
func (b *backend) watchNotices(p *serve.Client) (<-chan struct{}, func()) {
	if p == nil || p.Modern || p.Session == "" {
		return nil, func() {}
	}
	return b.h.router.watchNewMail(toolcall.NotificationBox(p.Session))
}

// sendNotices sends the notifications for a session. Each is taken once, so that it goes on one stream, in whichever process.
func (b *backend) sendNotices(ctx context.Context, session string, notify func(string, json.RawMessage)) {
	ctx, cancel := context.WithTimeout(ctx, noticeReadTimeout)
	defer cancel()
	messages, err := b.h.router.Take(ctx, callerKey(b), toolcall.NotificationBox(session))
	if err != nil && ctx.Err() == nil {
		b.h.log.WarnContext(ctx, "notifications for a client not read", "reason", err)
	}
	for _, message := range messages {
		var n toolcall.Notification
		if json.Unmarshal(message, &n) == nil {
			notify(n.Method, n.Params)
		}
	}
}
