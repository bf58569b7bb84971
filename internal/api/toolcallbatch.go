package api

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"patchbay/internal/auth"
	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/safe"
)

// maxBatchCalls bounds the calls of one request. All run at the same time.
const maxBatchCalls = 20

const aboutCallTools = `Runs up to 20 calls concurrently, each as callTool does. A call that is invalid or over quota does not affect the others. Results are in the order of calls.`

type toolCallBatch struct {
	Calls []toolCallCreate `json:"calls" minItems:"1" maxItems:"20" doc:"The calls, in any order."`
}

// toolCallResult has either a call or a problem.
type toolCallResult struct {
	Status  int                      `json:"status" doc:"The status callTool would return: 201, or the problem's."`
	Call    *toolCallJSON            `json:"call,omitempty" doc:"The call, if created."`
	Problem *respond.ProblemDocument `json:"problem,omitempty" doc:"Why the call was not created."`
}

type toolCallResults struct {
	Results []toolCallResult `json:"results" doc:"One per call, in order."`
}

type callToolsInput struct {
	AgentPath
	Format string `query:"format" enum:"text,openai,anthropic,google" doc:"Adds formatted to each result, with the call's id."`
	JSON   requestBody[toolCallBatch]
}

func (h *Handler) callTools(ctx context.Context, actor auth.Actor, in *callToolsInput) (*response[toolCallResults], error) {
	view, err := h.findUsableAgent(ctx, actor, in.ref())
	if err != nil {
		return nil, err
	}
	doc, err := in.JSON.readJSON()
	if err != nil {
		return nil, err
	}
	if n := len(doc.Calls); n == 0 || n > maxBatchCalls {
		return nil, fault.InvalidFields(fault.Field{Location: "calls", Message: fmt.Sprintf("Send 1 to %d calls.", maxBatchCalls)})
	}
	results := make([]toolCallResult, len(doc.Calls))
	var running sync.WaitGroup
	for i, call := range doc.Calls {
		safe.GoIn(&running, safe.Call, func() {
			var made *toolCallJSON
			err := safe.Try(safe.Call, func() error {
				ended, err := h.runCall(ctx, actor, view, call)
				made = &newCallResponse(ended, ResultFormat{Format: in.Format}).Body
				return err
			})()
			if err != nil {
				problem := h.respond.PreparePart(ctx, err)
				results[i] = toolCallResult{Status: problem.Status, Problem: &problem}
				return
			}
			results[i] = toolCallResult{Status: http.StatusCreated, Call: made}
		})
	}
	running.Wait()
	return &response[toolCallResults]{Body: toolCallResults{Results: results}}, nil
}
