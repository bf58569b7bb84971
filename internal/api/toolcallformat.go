package api

import (
	"encoding/json"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/toolfmt"
	"patchbay/internal/toolcall"
)

// ResultFormat asks for a call's result in another form.
type ResultFormat struct {
	Format string `query:"format" enum:"text,openai,anthropic,google" doc:"Adds the result as formatted."`
	CallID string `query:"call_id" maxLength:"200" doc:"The model's call id, for openai, anthropic and google. Without it, openai and anthropic get Patchbay's."`
}

// addFormatted sets the formatted result of a call that has one, or an error to tell the model.
func (f ResultFormat) addFormatted(out *toolCallJSON, call connectors.ToolCall) {
	if f.Format == "" {
		return
	}
	result, ok := modelResult(out, call)
	if !ok {
		return
	}
	id := f.CallID
	if id == "" && f.Format != string(toolfmt.Google) {
		id = out.ID
	}
	out.Formatted = toolfmt.Result(toolfmt.Format(f.Format), toolfmt.Call{ID: id, Tool: out.Tool}, result)
}

// modelResult returns the result of a tools/call. ok is false before the call's end, and where its content is not shown.
func modelResult(out *toolCallJSON, call connectors.ToolCall) (result json.RawMessage, ok bool) {
	if call.CompletedAt == nil || call.Kind != connectors.CallTool {
		return nil, false
	}
	content, structured, isError := out.Content, out.StructuredContent, call.IsError
	if out.Error != nil {
		text, err := encodeRaw(out.Error.Message)
		if err != nil {
			return nil, false
		}
		content, isError = text, true
	}
	if call.ErrorCode == string(toolcall.CodeInvalidResult) {
		structured = nil // withheld from the agent
	}
	if content == nil && structured == nil {
		return nil, false
	}
	result, err := encodeRaw(struct {
		Content    json.RawMessage `json:"content,omitempty"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
		IsError    bool            `json:"isError"`
	}{content, structured, isError})
	return result, err == nil
}
