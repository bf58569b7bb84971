package mcp

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstPause = 250 * time.Millisecond
	maxPause   = 10 * time.Second
)

// retry says how often a request is tried again, and how long it waits before.
type retry struct {
	times  int
	never  func(*Error) bool // failures after which nothing is tried again, although it might help; nil: none
	jitter func() float64
	wait   func(context.Context, time.Duration) error
}

func (d *Dialer) retry(times int) retry {
	r := retry{times: times, jitter: d.Jitter, wait: d.Wait}
	if r.jitter == nil {
		r.jitter = rand.Float64
	}
	if r.wait == nil {
		r.wait = wait
	}
	return r
}

// unsent is r for what must not happen twice: only what certainly never reached the server is tried again.
func (r retry) unsent() retry {
	r.never = func(failure *Error) bool { return failure.Phase != PhaseConnect }
	return r
}

// do tries until it works, cannot work, was tried often enough, or the time is up.
func (r retry) do(ctx context.Context, try func() *Error) error {
	for tried := 0; ; tried++ {
		failure := try()
		if failure == nil {
			return nil
		}
		if !failure.Retryable || tried >= r.times || ctx.Err() != nil || r.never != nil && r.never(failure) {
			return failure
		}
		pause := max(r.backoff(tried), failure.RetryAfter)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= pause {
			return failure
		}
		if r.wait(ctx, pause) != nil {
			return failure
		}
	}
}

// backoff doubles with each try and is spread over its upper half, so that many clients do not come back at once.
func (r retry) backoff(tried int) time.Duration {
	full := min(firstPause<<tried, maxPause)
	return full/2 + time.Duration(r.jitter()*float64(full/2))
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
