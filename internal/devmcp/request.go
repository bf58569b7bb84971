package devmcp

import (
	"encoding/json"
	"slices"
	"strconv"
)

type rpcMessage struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

type rpcReply struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

type resultObject map[string]any

// handleRequest handles one request.
func (e *endpoint) handleRequest(m rpcMessage) (any, *rpcError) {
	switch m.Method {
	case "initialize":
		return answerInitialize(m.Params)
	case "ping":
		return resultObject{}, nil
	case "tools/list":
		return e.listTools(m.Params)
	case "tools/call":
		return e.callTool(m.Params)
	}
	return nil, &rpcError{-32601, "There is no such method."}
}

func answerInitialize(raw json.RawMessage) (any, *rpcError) {
	var params struct{ ProtocolVersion string }
	if json.Unmarshal(raw, &params) != nil || params.ProtocolVersion == "" {
		return nil, &rpcError{-32602, "protocolVersion is missing."}
	}
	version := params.ProtocolVersion
	if !slices.Contains(versions, version) {
		version = versions[0]
	}
	return resultObject{
		"protocolVersion": version,
		"capabilities":    resultObject{"tools": resultObject{}},
		"serverInfo":      resultObject{"name": "patchbay-dev-mcp", "title": "Patchbay's practice server", "version": "1.0.0"},
		"instructions":    "A practice server with made-up data.",
	}, nil
}

// listTools returns the tools behind the cursor, which is the number of tools before it.
func (e *endpoint) listTools(raw json.RawMessage) (any, *rpcError) {
	var params struct{ Cursor *string }
	if len(raw) > 0 && json.Unmarshal(raw, &params) != nil {
		return nil, &rpcError{-32602, "Can't read the parameters."}
	}
	from := 0
	if params.Cursor != nil {
		n, err := strconv.Atoi(*params.Cursor)
		if err != nil || n <= 0 || n >= len(e.tools) {
			return nil, &rpcError{-32602, "The cursor is unknown."}
		}
		from = n
	}
	if e.pageSize == 0 || from+e.pageSize >= len(e.tools) {
		return resultObject{"tools": e.tools[from:]}, nil
	}
	to := from + e.pageSize
	return resultObject{"tools": e.tools[from:to], "nextCursor": strconv.Itoa(to)}, nil
}
