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

// Destructive tools, and tools that widen an agent's permissions, need a person's confirmation. The API needs
// none for a key, but an assistant reads texts of strangers and may have been talked into the call. So the
// client is asked to elicit it:
//
//	2026-07-28     the result is input_required, with a sealed state of caller, tool and arguments; any process may serve the
//	               repeated call with state and answer, once
//	before         elicitation/create within the call; the answer must reach the asking process, which authenticates the caller anew
//	neither        a refusal with the dashboard page for a person
//
// Approvals of agents' calls do not fit: they belong to an agent, a connector and its tool, and a key is none
// of these.

// confirmTimeout bounds the time to answer.
const confirmTimeout = 5 * time.Minute

// question is the text of a confirmation, and the dashboard page for the same action.
type question struct {
	text string
	page string
}

// confirmationError is a missing, declined or expired confirmation.
type confirmationError struct {
	code string
	text string
	page string // the page for a person
}

func (u *confirmationError) Error() string { return u.text }

// elicitationResult is a person's answer (MCP ElicitResult).
type elicitationResult struct {
	Action  string `json:"action"`
	Content struct {
		Agree bool `json:"agree"`
	} `json:"content"`
}

// confirmationState is the sealed requestState of a question.
type confirmationState struct {
	ID        uuid.UUID `json:"id"` // accepted once
	Tool      string    `json:"tool"`
	Arguments []byte    `json:"arguments"` // SHA-256
	Until     time.Time `json:"until"`
}

// retryParams are the params of a repeated modern call.
type retryParams struct {
	State     string                       `json:"requestState"`
	Responses map[string]elicitationResult `json:"inputResponses"`
}

// confirmRequestName is the key of the question in inputRequests and of its answer in inputResponses.
const confirmRequestName = "confirm"

// requireConfirmation returns a result that asks the person, or nothing once they agreed.
func (b *backend) requireConfirmation(ctx context.Context, c *caller, r *serve.Request, t *tool) (json.RawMessage, error) {
	if r.Peer.Modern {
		var sent retryParams
		if bytes.Contains(r.Params, []byte("requestState")) && json.Unmarshal(r.Params, &sent) != nil {
			return nil, serve.InvalidParams("The response to the question is not valid.")
		}
		if sent.State != "" {
			return nil, b.checkAnswer(ctx, r, t, sent)
		}
	}
	q, err := t.confirm(ctx, c, r.Arguments)
	if err != nil {
		return nil, err
	}
	switch {
	case !r.Peer.Can("elicitation.form"):
		return nil, cannotAskError(q)
	case r.Peer.Modern:
		return b.requestInput(r, t, q)
	}
	return nil, elicitInCall(ctx, r, q)
}

func cannotAskError(q question) error {
	return &confirmationError{"confirmation-required", "This requires a person's confirmation, which this client cannot request. They can do it here: " + q.page, q.page}
}

func elicitationForm(text string) map[string]any {
	return map[string]any{
		"mode": "form", "message": text,
		"requestedSchema": map[string]any{
			"type":       "object",
			"properties": map[string]any{"agree": map[string]any{"type": "boolean", "title": "Confirm", "default": false}},
			"required":   []string{"agree"},
		},
	}
}

func (b *backend) requestInput(r *serve.Request, t *tool, q question) (json.RawMessage, error) {
	state, err := json.Marshal(confirmationState{uuid.New(), t.name, hashArguments(r.Arguments), time.Now().Add(confirmTimeout)})
	if err != nil {
		return nil, err
	}
	sealed, err := b.h.store.SealHandle(confirmationHandle, callerKey(b.actor), state)
	if err != nil {
		return nil, fmt.Errorf("seal a question: %w", err)
	}
	return encodeJSON(map[string]any{
		"resultType": "input_required", "requestState": sealed,
		"inputRequests": map[string]any{confirmRequestName: map[string]any{"method": "elicitation/create", "params": elicitationForm(q.text)}},
	})
}

const confirmationHandle = "mcp admin confirmation"

// checkAnswer checks the answer and its state, which is sealed for this caller and call. An acceptance is used
// once, across processes.
func (b *backend) checkAnswer(ctx context.Context, r *serve.Request, t *tool, sent retryParams) error {
	var was confirmationState
	state, err := b.h.store.OpenHandle(confirmationHandle, callerKey(b.actor), sent.State)
	if err == nil {
		err = json.Unmarshal(state, &was)
	}
	if err != nil || was.Tool != t.name || !bytes.Equal(was.Arguments, hashArguments(r.Arguments)) {
		return serve.InvalidParams("The requestState does not belong to this call.")
	}
	if time.Now().After(was.Until) {
		return &confirmationError{code: "confirmation-expired", text: "The question has expired. Call the tool again without requestState."}
	}
	if err := checkElicitation(sent.Responses[confirmRequestName]); err != nil {
		return err
	}
	first, err := b.h.store.Tenant(b.actor.Tenant.ID).People().ConsumeConfirmation(ctx, was.ID, was.Until)
	if err == nil && !first {
		err = &confirmationError{code: "confirmation-used", text: "This response was already used. To repeat the action, call the tool again without requestState."}
	}
	return err
}

// recheckActor authenticates the caller anew: during the minutes of a question it may have lost its role or
// access.
func (b *backend) recheckActor(t *tool) (auth.Actor, error) {
	who, err := b.identifyAgain()
	if err != nil {
		return auth.Actor{}, err
	}
	if callerKey(who) != callerKey(b.actor) {
		return auth.Actor{}, fault.Errorf(fault.Unauthenticated, "The caller is not the one who was asked.")
	}
	b.actor = who
	return who, who.Require(t.permission)
}

// requireBrowser refuses tools that need the member's own confirmation in a browser: an answer at the program
// does not identify the person. API keys are exempt, as at the API.
func (b *backend) requireBrowser(ctx context.Context, c *caller, r *serve.Request, t *tool) error {
	if !t.dangerous || b.actor.Kind != auth.KindPerson {
		return nil
	}
	q, err := t.confirm(ctx, c, r.Arguments)
	if err != nil {
		return err
	}
	return &confirmationError{auth.CodeReauthenticate, "The person must confirm their identity in a browser first. They can do this here: " + q.page, q.page}
}

func checkElicitation(a elicitationResult) error {
	if a.Action == "accept" && a.Content.Agree {
		return nil
	}
	return &confirmationError{code: "declined", text: "The person declined. Nothing was done: do not ask again unless they want to."}
}

// hashArguments hashes arguments independently of their formatting.
func hashArguments(arguments json.RawMessage) []byte {
	var v any
	if json.Unmarshal(arguments, &v) == nil {
		arguments, _ = json.Marshal(v) // decoded JSON always marshals
	}
	sum := sha256.Sum256(arguments)
	return sum[:]
}

func elicitInCall(ctx context.Context, r *serve.Request, q question) error {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	asks := elicitationForm(q.text)
	delete(asks, "mode") // early revisions have no mode
	params, err := json.Marshal(asks)
	if err != nil {
		return err
	}
	raw, err := r.SendRequest(ctx, "elicitation/create", params)
	if errors.Is(err, serve.ErrRequestsUnsupported) {
		return cannotAskError(q)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &confirmationError{"confirmation-expired", "No response. A person can do it here: " + q.page, q.page}
	}
	var a elicitationResult
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if _, refused := errors.AsType[*serve.RPCError](err); refused {
		return checkElicitation(elicitationResult{})
	}
	if err != nil {
		return err
	}
	return checkElicitation(a)
}

// quoteText quotes remote text for a question, truncated and on one line.
func quoteText(text string) string {
	const maxLength = 200
	if r := []rune(text); len(r) > maxLength {
		text = string(r[:maxLength]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// withArguments decodes the arguments for a typed question.
func withArguments[I any](ask func(ctx context.Context, c *caller, in I) (question, error)) func(context.Context, *caller, json.RawMessage) (question, error) {
	return func(ctx context.Context, c *caller, arguments json.RawMessage) (question, error) {
		var in I
		if err := json.Unmarshal(arguments, &in); err != nil {
			return question{}, serve.InvalidParams("The arguments are not valid.")
		}
		return ask(ctx, c, in)
	}
}
