package toolcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/s2"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/shaping"
	"patchbay/internal/store"
)

// ResultScheme begins the URI of a kept answer, followed by the id of its call.
const ResultScheme = "patchbay://results/"

// readName is the name of all reads in the history. Their arguments have the id.
const readName = ResultScheme + "{id}"

// ReadRequest asks for a kept answer, or a part of it. It counts as a call of the agent. In the history it is the read of a
// resource of the connector, without what was read.
type ReadRequest struct {
	View      *agentview.View
	Connector *agentview.ConnectorView // the only one with answers to read; nil: any
	ID        string                   // of the call
	Arguments json.RawMessage          // of the read
	Token     *connectors.AgentTokenID
	Origin    connectors.CallOrigin
	Wait      *store.WaitBudget
}

// ErrLongAnswer is an answer that is only read in parts.
var ErrLongAnswer error = &RefusalError{Code: CodeInvalidRead, Sentence: "The answer is too long to be read as a whole."}

// noAnswerRefusal does not tell an expired answer from another agent's.
func noAnswerRefusal() *RefusalError {
	return &RefusalError{Code: CodeNotGranted, Sentence: "There is no answer with this id, or its 24 hours are over. Call the tool again."}
}

// KeptAnswer returns a whole answer of at most maxBytes, if the agent may still call its tool. A longer one is ErrLongAnswer.
func (c *Executor) KeptAnswer(ctx context.Context, q ReadRequest, maxBytes int) (answer json.RawMessage, err error) {
	err = c.withKept(ctx, q, func(raw json.RawMessage) (int, error) {
		if len(raw) > maxBytes {
			return 0, ErrLongAnswer
		}
		answer = raw
		return len(raw), nil
	})
	return answer, err
}

// ReadAnswer reads a part of a kept answer. A request that cannot be carried out is a *RefusalError.
func (c *Executor) ReadAnswer(ctx context.Context, q ReadRequest, what shaping.ReadRequest) (page shaping.Page, err error) {
	release, err := c.AcquireCall(q.View)
	if err != nil {
		return page, err
	}
	defer release()
	err = c.withKept(ctx, q, func(raw json.RawMessage) (size int, err error) {
		page, err = shaping.Read(ctx, raw, what)
		if f, ok := errors.AsType[*fault.Error](err); ok {
			err = &RefusalError{Code: CodeInvalidRead, Sentence: f.Message}
		}
		return len(page.Text), err
	})
	return page, err
}

// withKept opens a kept answer for read, and records the read. read returns how many bytes the agent gets.
func (c *Executor) withKept(ctx context.Context, q ReadRequest, read func(raw json.RawMessage) (size int, err error)) error {
	call := q.newCallRecord(c.o.Now())
	if err := c.limits.limitAgent(q.View, call.StartedAt); err != nil {
		return err
	}
	if err := c.shaper.work.Acquire(ctx, q.View.Tenant.ID); err != nil {
		return err
	}
	defer c.shaper.work.Release(q.View.Tenant.ID)
	head, raw, err := c.openKept(ctx, q)
	if err != nil {
		return err
	}
	connector, err := checkAnswer(q.View, head)
	size := 0
	if err == nil {
		size, err = read(raw)
	}
	if connector != nil {
		call.ConnectorID, call.ConnectorSlug = &connector.Connector.ID, connector.Connector.Slug
		c.recordRead(q, call, size, err)
	}
	return err
}

func (q ReadRequest) newCallRecord(now time.Time) connectors.ToolCall {
	return connectors.ToolCall{
		ID: NewCallID(), AgentID: &q.View.Agent.ID, AgentSlug: q.View.Agent.Slug, Kind: connectors.CallResource, Tool: readName, ExposedName: readName,
		Source: connectors.SourceGateway, CallOrigin: q.Origin, TokenID: q.Token, Status: connectors.CallRunning, Arguments: q.Arguments,
		RequestBytes: int64(len(q.Arguments)), StartedAt: now,
	}
}

func (c *Executor) recordRead(q ReadRequest, call connectors.ToolCall, size int, err error) {
	ended := c.o.History.Begin(q.View.Tenant, call).End(func(call *connectors.ToolCall) {
		now := c.o.Now()
		call.CompletedAt, call.Duration = &now, max(0, now.Sub(call.StartedAt))
		if err != nil {
			setErrorOutcome(call, err)
			return
		}
		call.Status, call.Outcome, call.ResponseBytes = connectors.CallSuccess, connectors.OutcomeOK, int64(size)
	})
	if c.o.OnEnd != nil {
		c.o.OnEnd(ended)
	}
}

func (c *Executor) openKept(ctx context.Context, q ReadRequest) (head keptAnswer, raw json.RawMessage, err error) {
	id, err := uuid.Parse(q.ID)
	if err != nil || q.View.Tenant.CallHistory == connectors.HistoryNone {
		return head, nil, noAnswerRefusal()
	}
	var letters []store.MailMessage
	err = c.o.Store.Retry(ctx, q.Wait, func(ctx context.Context) (err error) {
		letters, err = c.o.Store.Vault(q.View.Tenant.ID).Mail(ctx, q.View.Agent.ID, store.ResultBox+id.String(), uuid.Nil)
		return err
	})
	switch {
	case err != nil:
		return head, nil, unavailableRefusal(err, connectors.ToolCallID{UUID: id})
	case len(letters) == 0:
		return head, nil, noAnswerRefusal()
	}
	head, raw, err = openAnswer(letters[0].Message)
	if err == nil && q.Connector != nil && (q.Connector.Connector.ID != head.Connector || q.Connector.ChosenAccount() != "" && q.Connector.Account != head.Account) {
		err = noAnswerRefusal()
	}
	return head, raw, err
}

func openAnswer(message secret.Text) (head keptAnswer, raw json.RawMessage, err error) {
	packed := []byte(message.Reveal())
	if n, err := s2.DecodedLen(packed); err != nil || n > maxKeptAnswer {
		return head, nil, errors.New("a kept answer is malformed")
	}
	whole, err := s2.Decode(nil, packed)
	if err != nil {
		return head, nil, fmt.Errorf("open a kept answer: %w", err)
	}
	line, raw, _ := bytes.Cut(whole, []byte("\n"))
	return head, raw, json.Unmarshal(line, &head)
}

// checkAnswer refuses an answer of a tool that the agent may not call now. connector is nil if the agent has no access to it.
func checkAnswer(v *agentview.View, head keptAnswer) (connector *agentview.ConnectorView, err error) {
	if !v.Agent.Enabled {
		return nil, disabledRefusal()
	}
	connector, none := v.ConnectorWith(head.Connector, head.Account), connectors.CredentialID{}
	if connector == nil || head.Account != none && connector.Account != none && connector.Account != head.Account {
		return nil, lostToolRefusal(head)
	}
	switch tool := connector.Tool(head.Tool); {
	case tool == nil:
		return connector, lostToolRefusal(head)
	case tool.HasEnded(): // the read may have waited since the view was loaded
		return connector, endedToolRefusal(tool)
	case tool.BlockedBy != "" || !tool.Listed():
		return connector, blockedRefusal(tool)
	}
	return connector, nil
}

func lostToolRefusal(head keptAnswer) *RefusalError {
	return &RefusalError{
		Code: CodeNotGranted, Sentence: "This agent lost access to the tool that gave this answer.",
		Ask: &WantedAccess{connectors.Ref(head.Connector.String()), head.Tool},
	}
}
