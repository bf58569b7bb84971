package mcp

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"
)

const (
	defaultFirstPause = 250 * time.Millisecond
	maxPause          = 10 * time.Second
)

// retryPolicy decides how often a request is retried and how long it waits before.
type retryPolicy struct {
	maxRetries int
	firstPause time.Duration
	isFinal    func(*Error) bool // failures that are not retried although retryable; nil: none
	jitter     func() float64
	wait       func(context.Context, time.Duration) error
}

func (d *Dialer) newRetryPolicy(times int, firstPause time.Duration) retryPolicy {
	r := retryPolicy{maxRetries: times, firstPause: cmp.Or(firstPause, defaultFirstPause), jitter: d.Jitter, wait: d.Sleep}
	if r.jitter == nil {
		r.jitter = rand.Float64
	}
	if r.wait == nil {
		r.wait = waitTimer
	}
	return r
}

// unsentOnly is the policy for requests that are not idempotent: only those that never reached the server are
// retried.
func (r retryPolicy) unsentOnly() retryPolicy {
	r.isFinal = func(failure *Error) bool { return failure.Phase != PhaseConnect }
	return r
}

// do retries until success, a permanent failure, maxRetries, or the deadline.
func (r retryPolicy) do(ctx context.Context, try func() *Error) error {
	for tried := 0; ; tried++ {
		failure := try()
		if failure == nil {
			return nil
		}
		if !failure.Retryable || tried >= r.maxRetries || ctx.Err() != nil || r.isFinal != nil && r.isFinal(failure) {
			return failure
		}
		pause := max(r.backoffDelay(tried), failure.RetryAfter)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return failure
		}
		if r.wait(ctx, pause) != nil {
			return failure
		}
	}
}

// backoffDelay doubles with each attempt, with jitter over its upper half.
func (r retryPolicy) backoffDelay(tried int) time.Duration {
	full := min(r.firstPause<<tried, maxPause)
	return full/2 + time.Duration(r.jitter()*float64(full/2))
}

func waitTimer(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
