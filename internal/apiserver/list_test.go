package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/apiserver"
	"patchbay/internal/openapi"
)

// Definitions of more than 8 MiB, which is more than a client reads at once, come in pages of one document.
func TestListTools_PagesAreOfOneDocument(t *testing.T) {
	t.Parallel()
	const tools = 28
	read := 0
	_, bindings := openSession(t, http.NotFound, func(s *apiserver.Server) {
		s.Tools = func(context.Context) (all []openapi.Tool, err error) {
			read++
			for i := range tools {
				name := fmt.Sprintf("tool_%d_%d", read, i)
				definition := fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, strings.Repeat("d", 300<<10))
				binding := &openapi.Binding{Version: openapi.BindingVersion, Method: "GET", Server: "https://api.example.com", Path: "/" + name}
				all = append(all, openapi.Tool{Name: name, Definition: []byte(definition), Binding: binding})
			}
			return all, nil
		}
	})
	for i := range tools {
		if name := fmt.Sprintf("tool_1_%d", i); !strings.Contains(string(bindings[name]), "/"+name) {
			t.Errorf("no %s", name)
		}
	}
	if len(bindings) != tools || read != 1 {
		t.Errorf("%d tools are listed, and the document is read %d times", len(bindings), read)
	}
}
