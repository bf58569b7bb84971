package toolcall

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/access"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// The boxes by which a request that came in at another process goes on with a talk: the answer there, and what came of it back.
const (
	talkBox  = "talk-" // and the call's id
	toldBox  = "told-" // and the request's
	mailLife = 2 * time.Minute
)

// onward is the answer to a talk's question, for the process that has the talk.
type onward struct {
	Responses json.RawMessage `json:"responses,omitempty"`
	Reply     string          `json:"reply"` // the box
}

// told is what came next.
type told struct {
	keptResult
	InputRequired bool   `json:"input_required,omitempty"`
	Bad           string `json:"bad,omitempty"`
}

// goOn goes on with a talk, here or where it is.
func (c *Caller) goOn(ctx context.Context, o *Order, id connectors.ToolCallID) (Outcome, error) {
	if k := c.talks.find(id); k != nil {
		return k.resume(ctx, o.Input, o.Client)
	}
	return c.goOnAway(ctx, o, id)
}

func (c *Caller) goOnAway(ctx context.Context, o *Order, id connectors.ToolCallID) (Outcome, error) {
	request := newCallID()
	box := toldBox + request.String()
	woken, leave := c.waits.join(request)
	defer leave()
	message, err := json.Marshal(onward{Responses: o.Input.Responses, Reply: box})
	if err == nil {
		err = c.post(ctx, o.View, talkBox+id.String(), message)
	}
	if err != nil {
		return Outcome{}, c.explain(ctx, o.View, o.Tool.Reach, err)
	}
	patience := time.NewTimer(o.Tool.Reach.Connector.Timeout + 5*time.Second)
	defer patience.Stop()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		letters, err := c.o.Store.Vault(o.View.Tenant.ID).TakeMail(ctx, o.View.Agent.ID, box)
		if err == nil && len(letters) > 0 {
			return heard(id, letters[0].Message)
		}
		select {
		case <-woken:
		case <-look.C:
		case <-patience.C:
			return Outcome{CallID: id}, &Refusal{Code: CodeOutcomeUnknown, CallID: id, Sentence: "The process that made this call does not answer. Whether the tool ran is not known."}
		case <-ctx.Done():
			_ = c.post(context.WithoutCancel(ctx), o.View, cancelBox+id.String(), []byte("cancel"))
			return Outcome{CallID: id}, ended(ctx, o.Tool.Reach.Connector)
		}
	}
}

func (c *Caller) post(ctx context.Context, v *access.View, box string, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	return c.o.Store.Tenant(v.Tenant.ID).PutMail(ctx, store.NewMail{
		AgentID: v.Agent.ID, Box: box, Message: secret.Text(message), ExpiresAt: c.o.Now().Add(mailLife),
	})
}

// heard reads what came of a talk elsewhere.
func heard(id connectors.ToolCallID, message secret.Text) (Outcome, error) {
	var t told
	if err := json.Unmarshal([]byte(message.Reveal()), &t); err != nil {
		return Outcome{}, err
	}
	if t.Bad != "" {
		return Outcome{}, &BadArguments{Sentence: t.Bad}
	}
	return t.result(Outcome{CallID: id, InputRequired: t.InputRequired})
}

// hearTalk goes on with a talk of this process for a request that came in elsewhere.
func (c *Caller) hearTalk(box string) {
	if text, ok := strings.CutPrefix(box, toldBox); ok {
		if id, err := uuid.Parse(text); err == nil {
			c.waits.wake(connectors.ToolCallID{UUID: id})
		}
		return
	}
	text, ok := strings.CutPrefix(box, talkBox)
	if !ok {
		return
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return
	}
	if k := c.talks.find(connectors.ToolCallID{UUID: id}); k != nil {
		c.besides(func(ctx context.Context) { k.serve(ctx, box) })
	}
}

// serve takes the answers that lie in the talk's box, and tells what came of each.
func (k *talk) serve(ctx context.Context, box string) {
	v := k.order.View
	letters, err := k.c.o.Store.Vault(v.Tenant.ID).TakeMail(ctx, v.Agent.ID, box)
	k.c.logUnsaved(ctx, err)
	for _, l := range letters {
		var on onward
		if json.Unmarshal([]byte(l.Message.Reveal()), &on) != nil {
			continue
		}
		out, err := k.resume(ctx, &mcp.Input{Responses: on.Responses}, Client{})
		reply := told{keptResult: keptOf(out, err), InputRequired: out.InputRequired}
		if bad, ok := err.(*BadArguments); ok { //nolint:errorlint // it is ours, and at the top
			reply = told{Bad: bad.Sentence}
		}
		message, err := json.Marshal(reply)
		if err == nil {
			err = k.c.post(context.WithoutCancel(ctx), v, on.Reply, message)
		}
		k.c.logUnsaved(ctx, err)
	}
}
