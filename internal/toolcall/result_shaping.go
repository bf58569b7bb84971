package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/openapi/httpcall"
	"patchbay/internal/safe"
	"patchbay/internal/shaping"
	"patchbay/internal/store"
)

// A shortened answer is kept whole and sealed in its agent's mail, because the history keeps only a part of a long or secret one.
// An answer that cannot be kept is not shortened.

const (
	// KeptAnswerTTL is how long a whole answer is kept.
	KeptAnswerTTL  = 24 * time.Hour
	keepTimeout    = 5 * time.Second // of one write
	maxKeptAnswer  = 16 << 20        // bytes
	maxFilterCache = 256
	longAnswer     = 256 << 10 // bytes; a longer answer is shortened behind the gate
	maxTenantWork  = 2         // long answers of a tenant that are shortened or read at once
	maxWork        = 4         // of all tenants
)

// answerShaper shortens answers and keeps the whole ones.
type answerShaper struct {
	o    *Options
	mail *mailboxes
	work *limit.Gate[connectors.TenantID] // bounds the memory of long answers

	mu      sync.Mutex                  // guards filters
	filters map[string]*httpcall.Filter // by text; nil: not valid
}

func newAnswerShaper(o *Options, mail *mailboxes) *answerShaper {
	return &answerShaper{o: o, mail: mail, work: limit.NewGate[connectors.TenantID](maxTenantWork, maxWork)}
}

// keptAnswer heads a kept answer, as one line of JSON.
type keptAnswer struct {
	Connector connectors.ConnectorID  `json:"c"`
	Tool      string                  `json:"t"`
	Account   connectors.CredentialID `json:"a"` // that the call used; zero: none
}

// ruleFor returns the compiled rule of a tool.
func (as *answerShaper) ruleFor(s connectors.Shaping) shaping.Rule {
	rule := shaping.Rule{Budget: s.Budget}
	if s.Fields == "" {
		return rule
	}
	as.mu.Lock()
	defer as.mu.Unlock()
	filter, known := as.filters[s.Fields]
	if !known {
		if len(as.filters) >= maxFilterCache || as.filters == nil {
			as.filters = map[string]*httpcall.Filter{}
		}
		filter, _ = httpcall.CompileFilter(s.Fields) // of a stored rule: another release refused it if it fails
		as.filters[s.Fields] = filter
	}
	rule.Fields = filter
	return rule
}

// ShapeAnswer returns the shortened answer of a call, and keeps the whole one. nil: the answer stays as it is.
func (c *Executor) ShapeAnswer(ctx context.Context, v *agentview.View, tool *agentview.Tool, out *Outcome, n shaping.Notice) json.RawMessage {
	if tool.Shaping.IsZero() || out.Task || out.InputRequired {
		return nil
	}
	as := c.shaper
	if len(out.Raw) > longAnswer {
		if as.work.Acquire(ctx, v.Tenant.ID) != nil {
			return nil
		}
		defer as.work.Release(v.Tenant.ID)
	}
	s, shaped := as.applyRule(ctx, as.ruleFor(tool.Shaping), out.Raw, n)
	if !shaped {
		return nil
	}
	if err := as.keepAnswer(ctx, v, tool, out); err != nil {
		as.o.logUnsaved(ctx, fmt.Errorf("keep an answer, so that it can be shortened: %w", err))
		return nil
	}
	return s.Raw
}

// ShapeTask shortens the result of a call that became a task, in the answer raw of tasks/result, or of tasks/get in the form of the
// extension. notice is asked for the id of the call. nil: the answer stays as it is. Of one call one answer is kept, so that each
// request gets the same.
func (c *Executor) ShapeTask(ctx context.Context, q UpstreamRequest, raw json.RawMessage, notice func(connectors.ToolCallID) shaping.Notice) json.RawMessage {
	t, _, err := c.tasks.openTask(q.View, q.Params)
	if err != nil || q.Connector != nil && q.Connector.Connector.ID != t.Connector { // its answers aren't read at this address
		return nil
	}
	connector, err := findTaskConnector(q.View, t)
	if err != nil || !connector.Shapes() {
		return nil
	}
	result := raw
	if q.Method == "tasks/get" {
		result, _ = findMember(raw, "result")
	}
	if len(result) == 0 {
		return nil
	}
	var call connectors.ToolCall
	err = c.o.Store.Retry(ctx, q.Wait, func(ctx context.Context) (err error) {
		call, err = c.o.Store.Tenant(q.View.Tenant.ID).Calls().Get(ctx, t.Call)
		return err
	})
	if err != nil {
		return nil
	}
	if _, err := checkAnswer(q.View, keptAnswer{Connector: t.Connector, Tool: call.Tool, Account: t.Account}); err != nil { // the rest couldn't be read
		return nil
	}
	shaped := c.ShapeAnswer(ctx, q.View, connector.Tool(call.Tool), &Outcome{CallID: t.Call, Call: call, Raw: result}, notice(t.Call))
	if shaped != nil && q.Method == "tasks/get" {
		return withMember(raw, "result", shaped)
	}
	return shaped
}

// applyRule leaves an answer whole on which shaping panics.
func (as *answerShaper) applyRule(ctx context.Context, rule shaping.Rule, raw json.RawMessage, n shaping.Notice) (s shaping.Shaped, shaped bool) {
	err := safe.Try(safe.Call, func() error {
		s, shaped = rule.Shape(ctx, raw, n)
		return nil
	})()
	return s, shaped && err == nil
}

func (as *answerShaper) keepAnswer(ctx context.Context, v *agentview.View, tool *agentview.Tool, out *Outcome) error {
	answer := keptAnswer{Connector: tool.Connector.Connector.ID, Tool: tool.Name, Account: tool.Connector.Account}
	if used := out.Call.CredentialID; used != nil {
		answer.Account = *used
	}
	head, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	whole := append(append(head, '\n'), out.Raw...)
	if len(whole) > maxKeptAnswer {
		return errors.New("it is too long")
	}
	ctx, cancel := context.WithTimeout(ctx, keepTimeout)
	defer cancel()
	mail := as.mail.newMail(v, store.ResultBox+out.CallID.String(), s2.Encode(nil, whole))
	mail.ID, mail.ExpiresAt = out.CallID.UUID, as.o.Now().Add(KeptAnswerTTL) // of one call one answer is kept
	mail.Connector, mail.AnswerBytes = tool.Connector.Connector.ID, as.o.AnswerBytes
	return as.mail.putMail(ctx, nil, v.Tenant.ID, mail)
}
