package toolsync

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/redact"
)

// Listener receives the notifications of a connector's server. Its functions must return quickly.
type Listener struct {
	// OnOpen is called with the credential of the stream (nil: none) when it is open, and again after each
	// reconnect.
	OnOpen        func(with *credentials.Credential)
	OnReopen      func() // the stream was reopened: notifications in between are lost
	OnMessage     func(mcp.Message)
	MinStreamLife time.Duration // minimum life of a stream that is reopened in the same session
}

// Listen receives a server's notifications with the credential that a sync would use. It returns nil when ctx
// ends, else an *mcp.Error or the fault of a missing credential. It does not retry a failed connect.
func (s *Syncer) Listen(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, l Listener) error {
	attempts, err := s.planAttempts(ctx, tenant, c, nil)
	for _, a := range attempts {
		if err = s.listenWith(ctx, tenant, c, a, l); ctx.Err() != nil || !isUnauthorized(err) {
			break
		}
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the caller ended it
	}
	return err
}

func (s *Syncer) listenWith(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, a attempt, l Listener) error {
	target := s.newTarget(ctx, tenant, c, a)
	target.Retries = 0
	session, err := s.dialer.Dial(ctx, target)
	if err != nil {
		return err
	}
	defer session.Close(ctx)
	requestErrorMessages(ctx, session)
	for reopened := false; ; reopened = true {
		var lastOpened atomic.Int64 // in Unix milliseconds
		err := session.Listen(ctx, func() {
			first := lastOpened.Swap(time.Now().UnixMilli()) == 0
			l.OnOpen(a.credential)
			if reopened && first {
				l.OnReopen()
			}
		}, l.OnMessage)
		if ctx.Err() != nil || !isStreamEnd(err) || lastOpened.Load() == 0 || time.Since(time.UnixMilli(lastOpened.Load())) < l.MinStreamLife {
			return err
		}
		pauseBeforeReopen(ctx)
	}
}

// logLevelTimeout bounds the request for a log level.
const logLevelTimeout = 5 * time.Second

// requestErrorMessages asks a server of the handshake era for its log messages of level error and above. Without it a
// server sends what it likes. An error is ignored: the stream is of use without messages.
func requestErrorMessages(ctx context.Context, session *mcp.Session) {
	var offered struct{ Logging json.RawMessage }
	if session.Era() == mcp.EraModern || json.Unmarshal(session.Capabilities(), &offered) != nil || offered.Logging == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, logLevelTimeout)
	defer cancel()
	_, _ = session.Request(ctx, "logging/setLevel", json.RawMessage(`{"level":"error"}`))
}

// Excerpt returns what an admin may read of a text that a connector's server sent: without secrets, at most 2 KiB.
func (s *Syncer) Excerpt(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, text string) string {
	return s.credentials.Excerpt(ctx, tenant, c, redact.Source{Text: text}, credentials.UsedSecrets{})
}

// isStreamEnd reports whether a stream merely ended, as many do after a while.
func isStreamEnd(err error) bool {
	e, ok := errors.AsType[*mcp.Error](err)
	return ok && e.Phase == mcp.PhaseListen && e.Retryable
}

// pauseBeforeReopen waits about a second with jitter, so that the streams of a restarted server are not
// reopened all at once.
func pauseBeforeReopen(ctx context.Context) {
	timer := time.NewTimer(time.Duration(float64(time.Second) * (0.5 + rand.Float64())))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
