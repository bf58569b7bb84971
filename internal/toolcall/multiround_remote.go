package toolcall

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// The mailboxes of a request that resumes a call of another process: for the response, and for the next
// serverRequest or the result.
const (
	answerMailboxPrefix = "talk-" // plus the call's id
	replyMailboxPrefix  = "told-" // plus the request's id
	mailTTL             = 2 * time.Minute
)

// remoteAnswer is a client's response, for the process of the call.
type remoteAnswer struct {
	Responses json.RawMessage `json:"responses,omitempty"`
	Reply     string          `json:"reply"` // mailbox
}

// remoteReply is the next question or the result.
type remoteReply struct {
	storedResult
	InputRequired bool   `json:"input_required,omitempty"`
	Bad           string `json:"bad,omitempty"`
}

// resumeMultiRound resumes a call, here or in its process.
func (mr *multiRoundCalls) resumeMultiRound(ctx context.Context, request *CallRequest, id connectors.ToolCallID) (Outcome, error) {
	if m := mr.findCall(id); m != nil {
		return m.resumeCall(ctx, request.Input, request.Client)
	}
	return mr.resumeRemote(ctx, request, id)
}

func (mr *multiRoundCalls) resumeRemote(ctx context.Context, o *CallRequest, id connectors.ToolCallID) (Outcome, error) {
	request := NewCallID()
	box := replyMailboxPrefix + request.String()
	woken, unsubscribe := mr.waiters.subscribe(request)
	defer unsubscribe()
	message, err := json.Marshal(remoteAnswer{Responses: o.Input.Responses, Reply: box})
	if err == nil {
		err = mr.mail.putMail(ctx, o.Wait, o.View.Tenant.ID, mr.mail.newMail(o.View, answerMailboxPrefix+id.String(), message))
	}
	if err != nil {
		return Outcome{}, mr.explainer.explainError(ctx, o.View, o.Tool.Connector, err)
	}
	timeout := time.NewTimer(o.Tool.Connector.Connector.Timeout + 5*time.Second)
	defer timeout.Stop()
	poll := time.NewTicker(waitPollInterval)
	defer poll.Stop()
	for {
		letters, err := mr.o.Store.Vault(o.View.Tenant.ID).TakeMail(ctx, o.View.Agent.ID, box)
		if err == nil && len(letters) > 0 {
			return parseRemoteReply(id, letters[0].Message)
		}
		select {
		case <-woken:
		case <-poll.C:
		case <-timeout.C:
			return Outcome{CallID: id}, &RefusalError{Code: CodeOutcomeUnknown, CallID: id, Sentence: "The Patchbay process running this call isn't responding. The tool may have run."}
		case <-ctx.Done():
			mr.mail.putBegunMail(context.WithoutCancel(ctx), o.View, mr.mail.newMail(o.View, cancelMailboxPrefix+id.String(), []byte("cancel")))
			return Outcome{CallID: id}, explainContext(ctx, o.Tool.Connector.Connector)
		}
	}
}

func parseRemoteReply(id connectors.ToolCallID, message secret.Text) (Outcome, error) {
	var t remoteReply
	if err := json.Unmarshal([]byte(message.Reveal()), &t); err != nil {
		return Outcome{}, err
	}
	if t.Bad != "" {
		return Outcome{}, &InvalidArgumentsError{Sentence: t.Bad}
	}
	return t.toOutcome(Outcome{CallID: id, InputRequired: t.InputRequired})
}

// handleAnswerMail resumes a call of this process with a response that another process received.
func (mr *multiRoundCalls) handleAnswerMail(box string) {
	if text, ok := strings.CutPrefix(box, replyMailboxPrefix); ok {
		if id, err := uuid.Parse(text); err == nil {
			mr.waiters.wake(connectors.ToolCallID{UUID: id})
		}
		return
	}
	text, ok := strings.CutPrefix(box, answerMailboxPrefix)
	if !ok {
		return
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return
	}
	if m := mr.findCall(connectors.ToolCallID{UUID: id}); m != nil {
		mr.running.runBackground(func(ctx context.Context) { m.serveAnswers(ctx, box) })
	}
}

// serveAnswers takes the responses in the mailbox, and replies to each.
func (m *multiRoundCall) serveAnswers(ctx context.Context, box string) {
	v := m.request.View
	var letters []store.MailMessage
	m.calls.o.logUnsaved(ctx, m.calls.o.Store.RetryStarted(ctx, func(ctx context.Context) (err error) {
		letters, err = m.calls.o.Store.Vault(v.Tenant.ID).TakeMail(ctx, v.Agent.ID, box)
		return err
	}))
	for _, l := range letters {
		var answer remoteAnswer
		if !m.isNewAnswer(l.ID) || json.Unmarshal([]byte(l.Message.Reveal()), &answer) != nil {
			continue
		}
		out, err := m.resumeCall(ctx, &mcp.Input{Responses: answer.Responses}, Client{})
		reply := remoteReply{storedResult: toStoredResult(out, err), InputRequired: out.InputRequired}
		if badArguments, ok := err.(*InvalidArgumentsError); ok { //nolint:errorlint // it is ours, and at the top
			reply = remoteReply{Bad: badArguments.Sentence}
		}
		message, err := json.Marshal(reply)
		if err != nil {
			m.calls.o.logUnsaved(ctx, err)
			continue
		}
		m.calls.mail.putBegunMail(context.WithoutCancel(ctx), v, m.calls.mail.newMail(v, answer.Reply, message))
	}
}

// isNewAnswer reports whether a response was not taken before: its sender may have stored it again.
func (m *multiRoundCall) isNewAnswer(id uuid.UUID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answered == nil {
		m.answered = map[uuid.UUID]bool{}
	}
	defer func() { m.answered[id] = true }()
	return !m.answered[id]
}
