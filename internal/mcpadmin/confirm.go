package mcpadmin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/serve"
)

// What destroys something, or lets an agent do more, is done when a person has agreed to it. Whoever holds a key may do all of it at the API;
// but an assistant reads what strangers wrote, and may have been talked into it. So the client is asked to ask its person:
//
//	2026-07-28     the answer is input_required, with a state that names caller, tool and arguments, sealed; the call that comes again with the
//	               state and the person's answer may be served by any process
//	               (once: what was agreed to is done once)
//	before         elicitation/create, within the call; the answer has to reach the process that asked, and who called is looked up anew then
//	neither        a refusal, with the page on which a person does it
//
// The approvals of agents' calls do not serve: they belong to an agent, a connector and a tool of its server, and a key is none of these.

// confirmTime is how long a question stands.
const confirmTime = 5 * time.Minute

// question is what a person is asked, and where they would do it by hand.
type question struct {
	says string
	page string
}

// unconfirmed is an act that no person agreed to.
type unconfirmed struct {
	code string
	says string
	page string // where a person does it
}

func (u *unconfirmed) Error() string { return u.says }

// agreed is a person's answer, as elicitation has it.
type agreed struct {
	Action  string `json:"action"`
	Content struct {
		Agree bool `json:"agree"`
	} `json:"content"`
}

// pending is a question that was asked, in the state that the client brings back.
type pending struct {
	ID        uuid.UUID `json:"id"` // a yes is good once
	Tool      string    `json:"tool"`
	Arguments []byte    `json:"arguments"` // their hash
	Until     time.Time `json:"until"`
}

// asked is what a client of the modern era sends when it calls again.
type asked struct {
	State     string            `json:"requestState"`
	Responses map[string]agreed `json:"inputResponses"`
}

// answerName is what the question is called in the request, and the answer in the next one.
const answerName = "confirm"

// confirmed has a person agree. It returns a result that asks them; or nothing, where they have agreed.
func (b *backend) confirmed(ctx context.Context, c *caller, r *serve.Request, t *tool) (json.RawMessage, error) {
	if r.Peer.Modern {
		var sent asked
		if bytes.Contains(r.Params, []byte("requestState")) && json.Unmarshal(r.Params, &sent) != nil {
			return nil, serve.InvalidParams("The answer to what was asked cannot be read.")
		}
		if sent.State != "" {
			return nil, b.answered(ctx, r, t, sent)
		}
	}
	q, err := t.confirm(ctx, c, r.Arguments)
	if err != nil {
		return nil, err
	}
	switch {
	case !r.Peer.Can("elicitation.form"):
		return nil, nobodyToAsk(q)
	case r.Peer.Modern:
		return b.ask(r, t, q)
	}
	return nil, elicit(ctx, r, q)
}

func nobodyToAsk(q question) error {
	return &unconfirmed{"confirmation-required", "A person has to agree to this, and this client cannot ask one. They can do it themselves here: " + q.page, q.page}
}

// form is the elicitation of an answer.
func form(says string) map[string]any {
	return map[string]any{
		"mode": "form", "message": says,
		"requestedSchema": map[string]any{
			"type":       "object",
			"properties": map[string]any{"agree": map[string]any{"type": "boolean", "title": "Yes, do it", "default": false}},
			"required":   []string{"agree"},
		},
	}
}

// ask is the result that has the client ask.
func (b *backend) ask(r *serve.Request, t *tool, q question) (json.RawMessage, error) {
	state, err := json.Marshal(pending{uuid.New(), t.name, hashOf(r.Arguments), time.Now().Add(confirmTime)})
	if err != nil {
		return nil, err
	}
	sealed, err := b.h.store.SealHandle(confirmation, nameOf(b.who), state)
	if err != nil {
		return nil, fmt.Errorf("seal a question: %w", err)
	}
	return encoded(map[string]any{
		"resultType": "input_required", "requestState": sealed,
		"inputRequests": map[string]any{answerName: map[string]any{"method": "elicitation/create", "params": form(q.says)}},
	})
}

const confirmation = "mcp admin confirmation"

// answered looks at the answer to a question. The state was sealed for this caller, and is good for what was asked alone; a yes once, in
// whichever process.
func (b *backend) answered(ctx context.Context, r *serve.Request, t *tool, sent asked) error {
	var was pending
	state, err := b.h.store.OpenHandle(confirmation, nameOf(b.who), sent.State)
	if err == nil {
		err = json.Unmarshal(state, &was)
	}
	if err != nil || was.Tool != t.name || !bytes.Equal(was.Arguments, hashOf(r.Arguments)) {
		return serve.InvalidParams("The requestState does not belong to this call.")
	}
	if time.Now().After(was.Until) {
		return &unconfirmed{code: "confirmation-expired", says: "The question has been open for too long. Call the tool again without a requestState."}
	}
	if err := verdict(sent.Responses[answerName]); err != nil {
		return err
	}
	first, err := b.h.store.Tenant(b.who.Tenant.ID).SpendConfirmation(ctx, was.ID, was.Until)
	if err == nil && !first {
		err = &unconfirmed{code: "confirmation-used", says: "This answer was used before. To do the same once more call the tool again without a requestState."}
	}
	return err
}

// stillMay is the caller as they are by now: a person may take minutes to agree, in which the caller loses a role, or is sent away.
func (b *backend) stillMay(t *tool) (auth.Actor, error) {
	who, err := b.again()
	if err != nil {
		return auth.Actor{}, err
	}
	if nameOf(who) != nameOf(b.who) {
		return auth.Actor{}, fault.Errorf(fault.Unauthenticated, "The caller is another one than asked.")
	}
	b.who = who
	return who, who.Require(t.may)
}

// inBrowser refuses what somebody confirms in a browser who they are for, of a program that acts as a member: that a person at the program has
// agreed does not say which. Keys have nobody to ask, as at the API.
func (b *backend) inBrowser(ctx context.Context, c *caller, r *serve.Request, t *tool) error {
	if !t.dangerous || b.who.Kind != auth.KindPerson {
		return nil
	}
	q, err := t.confirm(ctx, c, r.Arguments)
	if err != nil {
		return err
	}
	return &unconfirmed{auth.CodeConfirm, "This needs the person to confirm in a browser who they are. They can do it here: " + q.page, q.page}
}

func verdict(a agreed) error {
	if a.Action == "accept" && a.Content.Agree {
		return nil
	}
	return &unconfirmed{code: "declined", says: "The person did not agree. Nothing was done: do not ask again unless they want to."}
}

// hashOf is the same for the same arguments, however they are written.
func hashOf(arguments json.RawMessage) []byte {
	var v any
	if json.Unmarshal(arguments, &v) == nil {
		arguments, _ = json.Marshal(v) // what was read can be written
	}
	sum := sha256.Sum256(arguments)
	return sum[:]
}

// elicit asks within the call.
func elicit(ctx context.Context, r *serve.Request, q question) error {
	ctx, cancel := context.WithTimeout(ctx, confirmTime)
	defer cancel()
	asks := form(q.says)
	delete(asks, "mode") // the first revisions that have elicitation have one mode
	params, err := json.Marshal(asks)
	if err != nil {
		return err
	}
	raw, err := r.Ask(ctx, "elicitation/create", params)
	if errors.Is(err, serve.ErrCannotAsk) {
		return nobodyToAsk(q)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &unconfirmed{"confirmation-expired", "Nobody answered. A person can do it themselves here: " + q.page, q.page}
	}
	var a agreed
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if _, refused := errors.AsType[*serve.RPCError](err); refused {
		return verdict(agreed{})
	}
	if err != nil {
		return err
	}
	return verdict(a)
}

// quoted is text of an assistant's or a server's in a question: short, and on one line.
func quoted(text string) string {
	const most = 200
	if r := []rune(text); len(r) > most {
		text = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// asking gives a question its Go type of arguments.
func asking[I any](ask func(ctx context.Context, c *caller, in I) (question, error)) func(context.Context, *caller, json.RawMessage) (question, error) {
	return func(ctx context.Context, c *caller, arguments json.RawMessage) (question, error) {
		var in I
		if err := json.Unmarshal(arguments, &in); err != nil {
			return question{}, serve.InvalidParams("The arguments cannot be read.")
		}
		return ask(ctx, c, in)
	}
}
