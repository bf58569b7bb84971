package otlp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"regexp"
	"sync"
	"time"
)

// losses counts spans that did not arrive, and says so now and then.
type losses struct {
	log   *slog.Logger
	now   func() time.Time
	count func(int) // nil: nobody

	mu     sync.Mutex // guards what follows
	said   time.Time
	unsaid int // spans since
}

func (l *losses) add(ctx context.Context, spans int, why string) {
	if l.count != nil {
		l.count(spans)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unsaid += spans
	now := l.now()
	if now.Sub(l.said) < lossLogInterval {
		return
	}
	l.log.WarnContext(ctx, "traces are lost", slog.Int("spans", l.unsaid), slog.String("reason", why))
	l.said, l.unsaid = now, 0
}

var status = regexp.MustCompile(`: ([45]\d\d) `)

// reason is why a batch did not arrive, without the collector's address and words: a path may hold a key.
func reason(err error) string {
	var failed *net.OpError
	var waited net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &waited) && waited.Timeout():
		return "no answer in time"
	case errors.As(err, &failed):
		return "no connection: " + failed.Err.Error()
	}
	if code := status.FindStringSubmatch(err.Error()); code != nil {
		return "the collector answered " + code[1]
	}
	return "the collector did not take them"
}
