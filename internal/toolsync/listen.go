package toolsync

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
)

// Listener is who hears what a connector's server says by itself. Its functions must return quickly.
type Listener struct {
	// Opened is called when there is a stream, with the credential that it was opened with (nil: none), and again where it is taken up
	// after an end.
	Opened func(with *credentials.Usable)
	Missed func() // there is another stream after one that ended: what the server said in between nobody heard
	Hear   func(mcp.Message)
	Steady time.Duration // how long a stream lives that is opened again in the same session
}

// Listen hears what a server says by itself, with the credential that a sync would use, until ctx ends (nil) or it cannot go on: an
// *mcp.Error, or the fault of a credential that is missing. It tries nothing again that did not work at once.
func (s *Syncer) Listen(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, l Listener) error {
	attempts, err := s.plan(ctx, tenant, c, nil)
	for _, a := range attempts {
		if err = s.listen(ctx, tenant, c, a, l); ctx.Err() != nil || !asksForCredential(err) {
			break
		}
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // whoever listened has heard enough
	}
	return err
}

func (s *Syncer) listen(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, a attempt, l Listener) error {
	target := s.target(ctx, tenant, c, a)
	target.Retries = 0
	session, err := s.dialer.Dial(ctx, target)
	if err != nil {
		return err
	}
	defer session.Close(ctx)
	for again := false; ; again = true {
		var last atomic.Int64 // in Unix milliseconds
		err := session.Listen(ctx, func() {
			first := last.Swap(time.Now().UnixMilli()) == 0
			l.Opened(a.credential)
			if again && first {
				l.Missed()
			}
		}, l.Hear)
		if ctx.Err() != nil || !ended(err) || last.Load() == 0 || time.Since(time.UnixMilli(last.Load())) < l.Steady {
			return err
		}
		breathe(ctx)
	}
}

// ended tells whether a stream only ended, as many do after a while.
func ended(err error) bool {
	e, ok := errors.AsType[*mcp.Error](err)
	return ok && e.Phase == mcp.PhaseListen && e.Retryable
}

// breathe waits for about a second, so that many whose server starts anew do not come back at once.
func breathe(ctx context.Context) {
	timer := time.NewTimer(time.Duration(float64(time.Second) * (0.5 + rand.Float64())))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
