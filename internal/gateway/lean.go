package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/agentview"
	"patchbay/internal/mcp/revision"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// serveLeanTool serves a call of a tool of a lean list. A call of [agentview.CallReading] and its siblings becomes the call
// of the tool that it names: nil, and r is that call. isLean is false for other tools.
func (b *backend) serveLeanTool(ctx context.Context, r *serve.Request) (result json.RawMessage, isLean bool, err error) {
	if b.connector != nil || !b.view.AcceptsLean() {
		return nil, false, nil
	}
	switch r.Name {
	case agentview.CallReading, agentview.CallWriting, agentview.CallDestroying:
		if result, err = b.unwrapCall(r); err != nil {
			result, err = newRefusalResult(err, noPageURL)
		}
		return result, true, err
	case agentview.FindTools, agentview.DescribeTools:
	default:
		return nil, false, nil
	}
	if r.Task != nil && hasHandshakeTasks(r.Peer) {
		return nil, true, &serve.RPCError{Code: revision.CodeMethodNotFound, Message: fmt.Sprintf("The tool %q does not support tasks. Call it without one.", r.Name)}
	}
	release, err := b.h.caller.AcquireCall(b.view)
	if err != nil {
		result, err = newRefusalResult(err, noPageURL)
		return result, true, err
	}
	defer release()
	if r.Name == agentview.FindTools {
		result, err = b.findTools(ctx, r)
	} else {
		result, err = b.describeTools(r)
	}
	if err != nil {
		result, err = newRefusalResult(err, noPageURL)
	}
	return result, true, err
}

// newMismatchError says how arguments of a tool of Patchbay do not match its schema.
func newMismatchError(sentence string) error {
	return &toolcall.InvalidArgumentsError{Sentence: sentence, Mismatch: true}
}

// unwrapCall replaces name and arguments of r by those of the tool that it calls. It returns a result if the tool is to be
// called with another one.
func (b *backend) unwrapCall(r *serve.Request) (json.RawMessage, error) {
	caller := r.Name
	var name string
	var arguments json.RawMessage
	err := readMembers(r, map[string]func(raw []byte) bool{
		"name": func(raw []byte) (ok bool) { name, ok = readText(raw); return ok && name != "" },
		"arguments": func(raw []byte) bool {
			arguments = nonNullJSON(raw)
			return arguments == nil || arguments[0] == '{'
		},
	}, "Send name, a tool's name, and arguments, the object of that tool's arguments.")
	if err == nil && name == "" {
		err = newMismatchError("Send name, the name of the tool to call.")
	}
	if err != nil {
		return nil, err
	}
	t := b.view.Tool(name)
	if t != nil && t.AppsOnly() {
		return newToolResult(fmt.Sprintf("%s is a tool for apps alone.", t.Exposed), nil, true)
	}
	if t != nil && t.Listed() && t.CallWith() != caller {
		return newToolResult(fmt.Sprintf("Call %s with %s: %s.", t.Exposed, t.CallWith(), callReason(t)), nil, true)
	}
	r.Name, r.Arguments = name, arguments
	return nil, nil
}

// mirrorsParams reports whether the headers of a direct call must mirror the tool's parameters. A client that has the tool in no list
// may know it by name alone, so it may leave all of them out.
func (b *backend) mirrorsParams(tool *agentview.Tool, header http.Header) bool {
	if b.connector != nil || !b.view.Lean || slices.Contains(b.view.PinnedTools(), tool) {
		return true
	}
	for name := range header {
		if strings.HasPrefix(name, "Mcp-Param-") {
			return true
		}
	}
	return false
}

// callReason says why a tool is called as [agentview.Tool.CallWith] says.
func callReason(t *agentview.Tool) string {
	switch t.CallWith() {
	case agentview.CallReading:
		return "its annotations say that it only reads"
	case agentview.CallWriting:
		return "its annotations say that it changes data and destroys none"
	default:
		return "its annotations do not say that it destroys nothing"
	}
}

// readMembers reads the arguments of a tool of a lean list. A member that is repeated, unknown or not accepted by its
// reader fails with the sentence.
func readMembers(r *serve.Request, readers map[string]func(raw []byte) bool, sentence string) error {
	if nonNullJSON(r.Arguments) == nil {
		return nil
	}
	dec, seen := json.NewDecoder(bytes.NewReader(r.Arguments)), map[string]bool{}
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return newMismatchError(sentence)
	}
	for dec.More() {
		token, _ := dec.Token() // the body of the request is valid JSON
		name, _ := token.(string)
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return newMismatchError(sentence)
		}
		read := readers[name]
		if read == nil {
			return newMismatchError(fmt.Sprintf("%s has no parameter %q. %s", r.Name, truncateName(name), sentence))
		}
		if seen[name] || !read(value) {
			return newMismatchError(sentence)
		}
		seen[name] = true
	}
	return nil
}

// readText reads a JSON string.
func readText(raw []byte) (text string, ok bool) {
	ok = raw[0] == '"' && json.Unmarshal(raw, &text) == nil
	return text, ok
}

// definedTool is a tool in an answer, with its definition.
type definedTool struct {
	CallWith   string          `json:"call_with"`
	Definition json.RawMessage `json:"definition"`
}

// namedTool is a tool in an answer, without its definition.
type namedTool struct {
	Name     string `json:"name"`
	About    string `json:"about,omitempty"`
	CallWith string `json:"call_with"`
}

// maxDefinedBytes bounds the definitions of an answer.
const maxDefinedBytes = 256 << 10

// leanAnswer is an answer with definitions.
type leanAnswer struct {
	Tools []definedTool `json:"tools"`
	More  []namedTool   `json:"more"` // without their definitions
	bytes int
}

// addName adds a tool by name.
func (a *leanAnswer) addName(t *agentview.Tool) {
	a.More = append(a.More, namedTool{Name: t.Exposed, About: t.About(), CallWith: t.CallWith()})
}

// addTool adds a tool, by name if its definition would pass the bound. The first of an answer may pass it if mayPass.
func (a *leanAnswer) addTool(t *agentview.Tool, d definedTool, mayPass bool) {
	if a.bytes+len(d.Definition) > maxDefinedBytes && (!mayPass || a.bytes > 0) {
		a.addName(t)
		return
	}
	a.Tools = append(a.Tools, d)
	a.bytes += len(d.Definition)
}

// findTools serves find_tools.
func (b *backend) findTools(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
	const sentence = "Send words, a text that says what the tool should do."
	var words, name string
	err := readMembers(r, map[string]func(raw []byte) bool{
		"words":     func(raw []byte) (ok bool) { words, ok = readText(raw); return ok },
		"connector": func(raw []byte) (ok bool) { name, ok = readText(raw); return ok || nonNullJSON(raw) == nil },
	}, sentence)
	if err != nil {
		return nil, err
	}
	if words = strings.TrimSpace(words); words == "" {
		return nil, newMismatchError(sentence)
	}
	search := agentview.ToolSearch{Words: words, Limit: agentview.MaxDefined + agentview.MaxNamed}
	if name = strings.TrimSpace(name); name != "" {
		if search.Connector = b.view.DirectoryConnector(name); search.Connector == nil {
			return newToolResult(b.unknownConnector(name), nil, true)
		}
	}
	found, err := b.view.FindTools(ctx, search)
	if err != nil {
		return nil, err
	}
	b.view.RememberSearch(words, found)
	answer := leanAnswer{Tools: []definedTool{}, More: []namedTool{}}
	for _, t := range found {
		defined, ok := defineTool(t.Tool, r.Peer)
		switch {
		case !ok:
		case len(answer.Tools) < agentview.MaxDefined:
			answer.addTool(t.Tool, defined, false)
		default:
			answer.addName(t.Tool)
		}
	}
	if len(answer.Tools)+len(answer.More) == 0 {
		return newToolResult("No tool matches. Use other words, such as the name of a connector and a verb.", answer, false)
	}
	return newToolResult("", answer, false)
}

// unknownConnector says which connectors there are.
func (b *backend) unknownConnector(name string) string {
	slugs, others := b.view.ConnectorSlugs()
	text := fmt.Sprintf("No single connector is named %q. ", truncateName(name))
	if len(slugs) == 0 {
		return text + "No connector has tools yet."
	}
	text += "Connectors: " + strings.Join(slugs, ", ")
	if others > 0 {
		text += fmt.Sprintf(" and %d more", others)
	}
	return text + "."
}

// describeTools serves describe_tools.
func (b *backend) describeTools(r *serve.Request) (json.RawMessage, error) {
	const sentence = "Send names, an array of 1–10 names of tools."
	var names []string
	err := readMembers(r, map[string]func(raw []byte) bool{
		"names": func(raw []byte) bool { return json.Unmarshal(raw, &names) == nil },
	}, sentence)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 || len(names) > agentview.MaxDescribed {
		return nil, newMismatchError(sentence)
	}
	answer := struct {
		leanAnswer
		Unknown []string `json:"unknown"`
		Note    string   `json:"note,omitempty"`
	}{leanAnswer{Tools: []definedTool{}, More: []namedTool{}}, []string{}, ""}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		if t := b.view.Tool(name); t != nil && t.Listed() {
			if defined, ok := defineTool(t, r.Peer); ok {
				answer.addTool(t, defined, true)
				continue
			}
		}
		answer.Unknown = append(answer.Unknown, truncateName(name))
	}
	if len(answer.More) > 0 {
		answer.Note = "The definitions are too long for one answer. Call describe_tools for each tool of more alone."
	}
	return newToolResult("", answer, false)
}

// defineTool returns a listed tool as the full list has it. ok is false if the client or its model must not see it.
func defineTool(t *agentview.Tool, p *serve.Client) (d definedTool, ok bool) {
	if t.AppsOnly() {
		return d, false
	}
	raw := t.ServedDefinition(p.Modern)
	return definedTool{CallWith: t.CallWith(), Definition: raw}, raw != nil
}

// newToolResult returns a tool's result. An empty text is the structured content as JSON, as clients without structured
// content need it.
func newToolResult(text string, structured any, isError bool) (json.RawMessage, error) {
	result := struct {
		Content    []textContent   `json:"content"`
		Structured json.RawMessage `json:"structuredContent,omitempty"`
		IsError    bool            `json:"isError,omitempty"`
	}{IsError: isError}
	if structured != nil {
		var err error
		if result.Structured, err = encodeJSON(structured); err != nil {
			return nil, err
		}
	}
	if text == "" {
		text = string(result.Structured)
	}
	result.Content = []textContent{{Type: "text", Text: text}}
	return encodeJSON(result)
}
