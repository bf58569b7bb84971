package toolcall_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/toolcall"
)

// waitForMail returns when a mailbox with this prefix holds mail.
func (b *bench) waitForMail(t *testing.T, boxPrefix string) {
	t.Helper()
	b.waitUntil(t, "exists (select from gateway_mail where box like '"+boxPrefix+"%')")
}

// waitUntil returns when the SQL expression is true.
func (b *bench) waitUntil(t *testing.T, expression string) {
	t.Helper()
	end := time.After(patience)
	for isTrue := false; !isTrue; {
		b.AsSystem(t, "select "+expression, []any{}, &isTrue)
		select {
		case <-time.After(time.Millisecond):
		case <-end:
			t.Fatalf("never: %s", expression)
		}
	}
}

// reconnect waits for mail of which this process gets no notice, and then lets it listen again.
func (b *bench) reconnect(t *testing.T, boxPrefix string) {
	t.Helper()
	b.waitForMail(t, boxPrefix)
	b.losesMail.Store(false)
	b.SetConnected(false)
	b.SetConnected(true)
}

func TestConnected_ReadsMissedAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	other := b.newProcess(t, b.newInstance(t))
	b.remote.set(askTwice())
	first := b.modernOrder(t, b.process, b.newTrustedAgent(t, c), c)
	out, err := b.Call(t.Context(), first)
	must(t, err)
	_, second := deliverResponse(t, out, first, "one")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // less than the connector's timeout
	defer cancel()
	b.losesMail.Store(true)
	done := make(chan callAnswer, 1)
	go func() {
		out, err := other.Call(ctx, second)
		done <- callAnswer{out, err}
	}()
	b.reconnect(t, "talk-")
	got := receive(t, done)
	must(t, got.err)
	if question, _ := deliverResponse(t, got.out, first, "two"); question != "elicitation/create 1?" {
		t.Errorf("asked %s", question)
	}
}

func TestConnected_ReadsMissedCancellations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	other := b.newProcess(t, b.newInstance(t))
	b.remote.set(hangRequest)
	request := b.order(t, b.process, b.newTrustedAgent(t, c), c, "search", "")
	request.ID = toolcall.NewCallID()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // less than the connector's timeout
	defer cancel()
	done := make(chan callAnswer, 1)
	go func() {
		out, err := b.Call(ctx, request)
		done <- callAnswer{out, err}
	}()
	receive(t, b.remote.arrived)
	b.history.Flush(t.Context())
	b.losesMail.Store(true)
	_, err := other.Cancel(t.Context(), b.actor(connectors.RoleMember), request.ID)
	must(t, err)
	b.reconnect(t, "cancel-")
	wantRefused(t, receive(t, done).err, toolcall.CodeCancelled)
	if err := ctx.Err(); err != nil {
		t.Error("it was not cancelled before its request ended")
	}
}
