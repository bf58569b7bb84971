package mcp_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// Each file in testdata/replies is one kind of response: "initialize" and "list" are bodies (ID stands for the
// request id; a first line "Content-Type: …" is the header), "want" is the result of a sync.
func TestReplies_AreReadOrExplained(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/replies/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script, want := readFixture(archive)
			_, list, err := syncScript(t, script)
			if diff := cmp.Diff(want, formatOutcome(t, list, err)); diff != "" {
				t.Errorf("%s(-want +got):\n%s", archive.Comment, diff)
			}
		})
	}
}

func readFixture(archive *txtar.Archive) (script mcptest.Script, want string) {
	script.On = map[string]mcptest.Handler{}
	for _, f := range archive.Files {
		switch f.Name {
		case "want":
			want = string(f.Data)
		case "initialize":
			script.On["initialize"] = newFixedHandler(string(f.Data))
		case "list":
			script.On["tools/list"] = newFixedHandler(string(f.Data))
		}
	}
	return script, want
}

func newFixedHandler(body string) mcptest.Handler {
	kind := "application/json"
	if rest, ok := strings.CutPrefix(body, "Content-Type: "); ok {
		kind, body, _ = strings.Cut(rest, "\n")
	}
	return func(w http.ResponseWriter, _ *http.Request, c mcptest.Call) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "ID", string(c.ID)))
	}
}

func formatOutcome(t *testing.T, list mcp.ToolList, err error) string {
	t.Helper()
	if err != nil {
		f := newErrorFacts(t, err)
		return strings.TrimRight(fmt.Sprintf("%s %s %d %d %s", f.Phase, f.Reason, f.HTTP, f.RPC, f.Detail), " ") + "\n"
	}
	var b strings.Builder
	for _, tool := range list.Tools {
		fmt.Fprintf(&b, "tool %s %s\n", tool.Name, tool.Raw)
	}
	for _, q := range list.Quarantined {
		name := "-"
		if q.Name != nil {
			name = *q.Name
		}
		fmt.Fprintf(&b, "quarantined %s %s %s\n", name, q.Raw, q.Reason)
	}
	return b.String()
}
