package toolcall

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestRunningCalls_CancelEndsOneCall(t *testing.T) {
	t.Parallel()
	r := newRunningCalls()
	first, err := r.beginCall(t.Context(), NewCallID())
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.beginCall(t.Context(), NewCallID())
	if err != nil {
		t.Fatal(err)
	}
	if !r.cancelCall(first.id, errCancelled) || first.Err() == nil || second.Err() != nil {
		t.Errorf("cancelled: %v, %v", first.Err(), second.Err())
	}
	first.endCall()
	second.endCall()
	if r.cancelCall(first.id, errCancelled) || r.isRunning(second.id) {
		t.Error("an ended call is registered")
	}
}

func TestRunningCalls_RefusesWorkAfterStop(t *testing.T) {
	t.Parallel()
	r := newRunningCalls()
	r.refuseCalls()
	if _, err := r.beginCall(t.Context(), NewCallID()); !isRefused(err, CodeUnavailable) {
		t.Errorf("error = %v", err)
	}
	if r.runBackground(func(context.Context) { t.Error("it ran") }) {
		t.Error("background work started")
	}
	r.waitForCalls(t.Context())
}

func TestRunningCalls_AbortsAfterTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRunningCalls()
		call, err := r.beginCall(t.Context(), NewCallID())
		if err != nil {
			t.Fatal(err)
		}
		r.runBackground(func(ctx context.Context) { <-ctx.Done() })
		go func() {
			defer call.endCall()
			<-call.Done()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		r.refuseCalls()
		r.waitForCalls(ctx)
		if waited := time.Since(start); waited != time.Minute || r.isRunning(call.id) {
			t.Errorf("waited %s", waited)
		}
	})
}

func TestRunningCalls_LoopGoesOnAfterAPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRunningCalls()
		ran := make(chan int, 1)
		n := 0
		r.startLoop("test", time.Second, func(context.Context) {
			if n++; n == 1 {
				panic("of a test")
			}
			ran <- n
		})
		if got := <-ran; got != 2 {
			t.Errorf("ran %d times", got)
		}
		r.refuseCalls()
		r.cancelBase()
		r.waitForCalls(t.Context())
	})
}

func isRefused(err error, code Code) bool {
	r, ok := errors.AsType[*RefusalError](err)
	return ok && r.Code == code
}
