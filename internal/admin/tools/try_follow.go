package tools

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	callpages "patchbay/internal/admin/calls"
	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/safe"
	"patchbay/web"
	"patchbay/web/templates"
)

// A script gets a trial that takes longer than tryPatience as a stream of events: its progress, while it runs or waits for
// approval, and at the end the page's content. The stream ends after followTimeout; the call then goes on, on its own page.
const (
	tryPatience   = 400 * time.Millisecond
	followPoll    = 500 * time.Millisecond
	followTimeout = 15 * time.Minute
)

// tryRunner makes the call of a trial, and stores the result in it.
type tryRunner func(w http.ResponseWriter, r *http.Request, t *trial) (status int, err error)

func takesEvents(r *http.Request) bool {
	return r.Header.Get("HX-Request") != "" && strings.Contains(r.Header.Get("Accept"), shell.EventStreamType)
}

// trialEnd is what a runner returned.
type trialEnd struct {
	trial  trial
	header http.Header
	status int
	err    error
}

// followTrial runs a trial for a script, which follows it.
func (h *Handler) followTrial(w http.ResponseWriter, r *http.Request, t trial, id connectors.ToolCallID, run tryRunner) error {
	session, err := h.NewOpenSession(r)
	if err != nil {
		return err
	}
	t.followed = followTimeout
	ended := make(chan trialEnd, 1)
	safe.Go(safe.Task, func() {
		end := trialEnd{trial: t, header: http.Header{}, err: errors.New("panic in a trial")}
		defer func() { ended <- end }()
		end.status, end.err = run(headerWriter{end.header}, r, &end.trial)
	})
	patience := time.NewTimer(tryPatience)
	defer patience.Stop()
	var end trialEnd
	select {
	case end = <-ended:
		if end.err == nil && !end.trial.isWaiting() {
			for name, values := range end.header {
				w.Header()[name] = values
			}
			return h.toolPage(w, r, end.status, end.trial)
		}
		if end.err != nil {
			return end.err
		}
	case <-patience.C:
	}
	f := follower{h: h, r: r, session: session, events: shell.NewEventWriter(w), can: shell.ToPermissions(shell.Actor(r).Role)}
	defer f.events.Close()
	if err := f.followCall(ended, end, id); err != nil {
		h.Log.DebugContext(r.Context(), "test call no longer tracked", "error", err)
	}
	return nil
}

// headerWriter takes the headers that a runner sets.
type headerWriter struct{ header http.Header }

func (w headerWriter) Header() http.Header       { return w.header }
func (headerWriter) Write(b []byte) (int, error) { return len(b), nil }
func (headerWriter) WriteHeader(int)             {}

// follower sends the progress of one trial.
type follower struct {
	h       *Handler
	r       *http.Request
	session *shell.OpenSession
	events  *shell.EventWriter
	can     templates.Permissions
	last    callMark
}

// callMark is the part of a call that changes what is shown of it.
type callMark struct{ state, progress, percent string }

// followCall sends the call's progress until the trial has ended, and a call that waits for approval has.
func (f *follower) followCall(ended <-chan trialEnd, end trialEnd, id connectors.ToolCallID) error {
	if _, err := f.events.Write([]byte(": connected\n\n")); err != nil {
		return err
	}
	poll, timeout := time.NewTicker(followPoll), time.NewTimer(followTimeout)
	defer poll.Stop()
	defer timeout.Stop()
	for {
		if end.trial.isWaiting() {
			id = end.trial.call.ID
		}
		call, err := f.sendProgress(id)
		switch {
		case err != nil:
			return err
		case end.trial.isWaiting() && call.Status.Ended():
			end.trial.result = f.h.followedResult(f.r, call)
			return f.sendEnd(end)
		}
		select {
		case end = <-ended:
			if end.err != nil || !end.trial.isWaiting() {
				return f.sendEnd(end)
			}
		case <-poll.C:
		case <-timeout.C:
			return f.sendEnd(end)
		case <-f.h.Done:
			return nil
		case <-f.r.Context().Done():
			return nil
		}
	}
}

// sendProgress sends how far the call is when that changed. A call without a stored row has none.
func (f *follower) sendProgress(id connectors.ToolCallID) (connectors.ToolCall, error) {
	call, err := f.h.Calls.ReadSummary(f.r.Context(), shell.Actor(f.r), id)
	if fault.Is(err, fault.NotFound) {
		return call, nil
	}
	if err != nil || call.Status.Ended() {
		return call, err
	}
	row := callpages.CallRow(f.r.Context(), call, f.can, f.h.Now())
	mark := callMark{row.State.Text, row.Progress, row.Percent}
	if mark == f.last {
		return call, nil
	}
	f.last = mark
	progress := templates.TryProgress{Call: row}
	if call.Status == connectors.CallPendingApproval {
		progress.Approval = shell.ApprovalPath(call.ID)
	}
	return call, f.sendEvent(f.r.Context(), func(ctx context.Context, body *bytes.Buffer) error {
		return templates.TryChanged(progress).Render(ctx, body)
	})
}

// sendEnd sends the page, of which the script takes the content.
func (f *follower) sendEnd(end trialEnd) error {
	return f.sendEvent(f.r.Context(), func(_ context.Context, body *bytes.Buffer) error {
		if end.err != nil {
			end.trial.form.Problem = f.h.Respond.Sentence(f.r, end.err)
		}
		return f.h.toolPage(bodyWriter{headerWriter{http.Header{}}, body}, f.r, http.StatusOK, end.trial)
	})
}

// bodyWriter is a response of which the body alone counts.
type bodyWriter struct {
	headerWriter
	body *bytes.Buffer
}

func (w bodyWriter) Write(b []byte) (int, error) { return w.body.Write(b) }

func (f *follower) sendEvent(ctx context.Context, render func(ctx context.Context, body *bytes.Buffer) error) error {
	var body bytes.Buffer
	if err := render(ctx, &body); err != nil {
		return err
	}
	if err := f.session.Check(); err != nil {
		return err
	}
	_, err := f.events.Write(shell.EncodeEvent(body.Bytes()))
	return err
}

// followedResult is the result of a call that ran after its approval, as it is stored.
func (h *Handler) followedResult(r *http.Request, c connectors.ToolCall) *templates.Result {
	a := shell.Actor(r)
	if c.Status != connectors.CallSuccess && !c.IsError {
		return trialResult(r.Context(), c, false, a.Tenant)
	}
	d := callpages.CallDetail(r.Context(), web.Asset, c, a.Tenant.CallHistory, shell.ToPermissions(a.Role), h.Now())
	d.Result.Link = &templates.Link{Text: i18n.T(r.Context(), "Open call"), Href: shell.CallPath(c.ID)}
	return d.Result
}
