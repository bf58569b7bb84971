package mcp

import (
	"context"
	"errors"
	"time"

	"patchbay/internal/mcp/wire"
)

const (
	closeTimeout    = 2 * time.Second
	courtesyTimeout = time.Second
)

// conversation is one life of a session: from its opening until it is closed, or the server has lost it. What the opening learns
// does not change any more, so that many requests may be under way at once.
type conversation struct {
	carrier carrier
	timeout time.Duration // of one message with its answer
	life    context.Context
	end     context.CancelFunc // of life, and with it of all that is under way

	server   ServerInfo
	hasTools bool // the server says that it has tools
}

func newConversation(c carrier, timeout time.Duration) *conversation {
	life, end := context.WithCancel(context.Background())
	return &conversation{carrier: c, timeout: timeout, life: life, end: end}
}

// exchange sends one message once and returns the reply, where there is to be one.
func (c *conversation) exchange(ctx context.Context, m outgoing) (*wire.Reply, *Error) {
	timed, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	in, err := c.carrier.send(timed, m)
	switch {
	case err != nil && err.Reason == ReasonTimeout:
		c.forget(ctx, m)
		return nil, err
	case err != nil:
		return nil, err
	case in.reply != nil && in.reply.Error != nil:
		return nil, rpcError(m.phase, in.reply.Error, in.status)
	}
	return in.reply, nil
}

// forget tells the server that nobody waits for the reply any more. An initialize must not be cancelled.
func (c *conversation) forget(ctx context.Context, m outgoing) {
	if m.id == 0 || m.phase == PhaseInitialize {
		return
	}
	c.courtesy(ctx, notification(m.phase, "notifications/cancelled", map[string]any{"requestId": m.id, "reason": "timeout"}))
}

// courtesy tells the server something that it may like and that nothing depends on, within a second.
func (c *conversation) courtesy(ctx context.Context, m outgoing) {
	ctx, cancel := context.WithTimeout(ctx, min(courtesyTimeout, c.timeout))
	defer cancel()
	_, _ = c.carrier.send(ctx, m)
}

// close ends what is under way, and then the conversation, within two seconds and as a courtesy: its failure changes nothing. It works
// after ctx has ended, too.
func (c *conversation) close(ctx context.Context) {
	c.end()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(closeTimeout, c.timeout))
	defer cancel()
	c.carrier.close(ctx)
}

// lost tells whether an error says that the server does not know the conversation any more.
func lost(err error) bool { return errors.Is(err, errSessionLost) }

// errSessionLost marks an answer that says that the server does not know our MCP session any more.
var errSessionLost = errors.New("the server does not know the session")

func notification(phase Phase, method string, params any) outgoing {
	return outgoing{phase: phase, method: method, body: wire.Notification(method, params)}
}
