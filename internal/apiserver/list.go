package apiserver

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"patchbay/internal/mcp/serve"
	"patchbay/internal/openapi"
	"patchbay/internal/toolchange"
)

// maxPage bounds a page of the list, in bytes, unless one definition is larger. A client refuses a response of 8 MiB.
const maxPage = 7 << 20

// listedTools are the tools of a list of which a client has not read all pages, so that all pages are of one document.
type listedTools struct {
	mu    sync.Mutex
	tools []openapi.Tool
}

// listTools returns a page of the tools. A cursor is the index of its first tool.
func (s *Server) listTools(ctx context.Context, cursor string) (json.RawMessage, error) {
	s.listed.mu.Lock()
	defer s.listed.mu.Unlock()
	first := 0
	if cursor == "" {
		tools, err := s.Tools(ctx)
		if err != nil {
			return nil, toRPCError(outcomeOf(ctx), err)
		}
		s.listed.tools = tools
	} else if n, err := strconv.Atoi(cursor); err == nil && n > 0 && n < len(s.listed.tools) {
		first = n
	} else {
		return nil, serve.InvalidParams("The cursor is invalid. List from the start.")
	}
	out := []byte(`{"tools":[`)
	for i, tool := range s.listed.tools[first:] {
		end := len(out)
		if i > 0 {
			out = append(out, ',')
		}
		if out = appendTool(out, tool); i > 0 && len(out) > maxPage {
			return append(out[:end], `],"nextCursor":"`+strconv.Itoa(first+i)+`"}`...), nil
		}
	}
	s.listed.tools = nil
	return append(out, "]}"...), nil
}

// appendTool writes a definition with its binding.
func appendTool(out []byte, tool openapi.Tool) []byte {
	definition := bytes.TrimRight(tool.Definition, " \n")
	out = append(out, definition[:len(definition)-1]...)
	out = append(out, `,"`+toolchange.BindingMember+`":`...)
	out = append(out, tool.Binding.JSON()...)
	return append(out, '}')
}
