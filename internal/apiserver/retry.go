package apiserver

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"patchbay/internal/openapi/httpcall"
)

// Retries say how often a request is sent again that the API could not answer now.
type Retries struct {
	Max     int
	Backoff time.Duration // before the first; it doubles with each one
	// Wait waits; nil: by a timer.
	Wait func(context.Context, time.Duration) error
}

// maxBackoff bounds the wait that the API did not ask for.
const maxBackoff = 10 * time.Second

// sendRetried sends a request. An idempotent one is sent again where the API is overloaded, after the wait that it asks for, unless
// that is beyond the call's deadline. The answer then says the wait in Retry-After.
func (c apiCall) sendRetried(ctx context.Context, request *httpcall.Request) (httpcall.Response, error) {
	for tried := 0; ; tried++ {
		answer, err := c.sendOne(ctx, request)
		if err != nil {
			return answer, err
		}
		wait := httpcall.ReadRetryAfter(answer.Status, answer.Header, c.server.Now())
		if wait > 0 && answer.Header.Get("Retry-After") == "" {
			answer.Header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		}
		if !request.Idempotent || tried >= c.server.Retries.Max || !isTemporary(answer.Status) && wait == 0 {
			return answer, nil
		}
		pause := max(min(c.server.Retries.Backoff<<tried, maxBackoff), wait)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return answer, nil
		}
		if err := c.server.Retries.waitFor(ctx, pause); err != nil {
			return answer, nil //nolint:nilerr // the last answer says more
		}
	}
}

func isTemporary(status int) bool { return status != http.StatusUnauthorized && isServersOwn(status) }

func (r Retries) waitFor(ctx context.Context, d time.Duration) error {
	if r.Wait != nil {
		return r.Wait(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
