package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// newPagedScript answers tools/list by cursor; "-" is no cursor.
func newPagedScript(pages map[string]string) mcptest.Script {
	return mcptest.Script{On: map[string]mcptest.Handler{
		"tools/list": mcptest.Answer("application/json", func(c mcptest.Call) string {
			var params struct{ Cursor *string }
			_ = json.Unmarshal(c.Params, &params)
			cursor := "-"
			if params.Cursor != nil {
				cursor = *params.Cursor
			}
			if page, ok := pages[cursor]; ok {
				return mcptest.Result(c, page)
			}
			return mcptest.Failure(c, -32602, "Invalid cursor")
		}),
	}}
}

func newListPage(next string, tools ...string) string {
	var raw []string
	for _, name := range tools {
		raw = append(raw, fmt.Sprintf(`{"name":%q}`, name))
	}
	if next != "" {
		next = `,"nextCursor":` + next
	}
	return `{"tools":[` + strings.Join(raw, ",") + `]` + next + `}`
}

func TestTools_EndOfList(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pages map[string]string
		want  string
		count int
	}{
		"without a cursor":                  {map[string]string{"-": newListPage("", "a")}, "a", 1},
		"with null":                         {map[string]string{"-": newListPage("null", "a")}, "a", 1},
		"after some pages":                  {map[string]string{"-": newListPage(`"x"`, "a"), "x": newListPage(`"y"`, "b"), "y": newListPage("", "c")}, "a b c", 3},
		"an empty cursor that is one":       {map[string]string{"-": newListPage(`""`, "a"), "": newListPage(`"x"`, "b"), "x": newListPage("", "c")}, "a b c", 3},
		"an empty cursor, twice":            {map[string]string{"-": newListPage(`""`, "a"), "": newListPage(`""`, "b")}, "a b", 2},
		"an empty cursor that means none":   {map[string]string{"-": newListPage(`""`, "a"), "": newListPage(`""`, "a")}, "a", 2},
		"an empty cursor after some pages":  {map[string]string{"-": newListPage(`"x"`, "a"), "x": newListPage(`""`, "b"), "": newListPage(`"x"`, "a")}, "a b", 3},
		"an empty cursor that is not taken": {map[string]string{"-": newListPage(`""`, "a")}, "a", 1},
		"pages without tools":               {map[string]string{"-": newListPage(`"x"`), "x": newListPage("", "a")}, "a", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, list, err := syncScript(t, newPagedScript(c.pages))
			if err != nil || names(list) != c.want || list.Pages != c.count || len(list.Quarantined) != 0 {
				t.Errorf("%d pages %q, set aside %v, error %v", list.Pages, names(list), list.Quarantined, err)
			}
		})
	}
}

func TestTools_ErrorsNameTheReason(t *testing.T) {
	t.Parallel()
	endless := mcptest.Script{On: map[string]mcptest.Handler{
		"tools/list": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, newListPage(fmt.Sprintf(`"%d"`, c.N), fmt.Sprintf("tool_%d", c.N)))
		}),
	}}
	many := make([]string, 5001)
	for i := range many {
		many[i] = fmt.Sprintf(`{"name":"t%d"}`, i)
	}
	for name, c := range map[string]struct {
		script mcptest.Script
		want   errorFacts
	}{
		"a repeated cursor": {newPagedScript(map[string]string{"-": newListPage(`"x"`, "a"), "x": newListPage(`"y"`, "b"), "y": newListPage(`"x"`, "c")}),
			errorFacts{Reason: mcp.ReasonProtocol, HTTP: 200, Detail: "repeats a cursor in its tool list"}},
		"its own cursor": {newPagedScript(map[string]string{"-": newListPage(`"x"`, "a"), "x": newListPage(`"x"`, "b")}),
			errorFacts{Reason: mcp.ReasonProtocol, HTTP: 200, Detail: "repeats a cursor in its tool list"}},
		"endless pages": {endless, errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: "lists its tools on over 200 pages"}},
		"too many tools": {mcptest.Script{Tools: many},
			errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: "lists over 5000 tools"}},
		"too many tools on pages": {mcptest.Script{Tools: many, PageSize: 500, Stream: true},
			errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: "lists over 5000 tools"}},
		"a cursor that fails": {newPagedScript(map[string]string{"-": newListPage(`"x"`, "a")}),
			errorFacts{Reason: mcp.ReasonRPC, HTTP: 200, RPC: -32602}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := syncScript(t, c.script)
			c.want.Phase = mcp.PhaseList
			if diff := cmp.Diff(c.want, newErrorFacts(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTools_MaxToolsAreRead(t *testing.T) {
	t.Parallel()
	many := make([]string, 5000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"name":"t%d"}`, i)
	}
	_, list, err := syncScript(t, mcptest.Script{Tools: many, PageSize: 25})
	if err != nil || len(list.Tools) != 5000 || list.Pages != 200 {
		t.Errorf("%d tools on %d pages, error %v", len(list.Tools), list.Pages, err)
	}
}

func TestTools_DuplicateNameIsQuarantined(t *testing.T) {
	t.Parallel()
	_, list, err := syncScript(t, newPagedScript(map[string]string{"-": newListPage(`"x"`, "a"), "x": newListPage("", "a", "b")}))
	if err != nil {
		t.Fatal(err)
	}
	name := "a"
	want := []mcp.Quarantined{{Name: &name, Reason: "An earlier tool has this name.", Raw: json.RawMessage(`{"name":"a"}`)}}
	if diff := cmp.Diff(want, list.Quarantined); diff != "" || names(list) != "a b" {
		t.Errorf("tools %q, set aside (-want +got):\n%s", names(list), diff)
	}
}

func TestTools_ServerWithoutToolsIsEmpty(t *testing.T) {
	t.Parallel()
	initialize := func(capabilities string) mcptest.Handler {
		return mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`}`)
		})
	}
	unknown := mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Failure(c, -32601, "no") })
	_, list, err := syncScript(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": initialize(`{"prompts":{}}`), "tools/list": unknown}})
	if err != nil || len(list.Tools) != 0 {
		t.Errorf("a server of prompts: %+v, %v", list, err)
	}
	_, _, err = syncScript(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": initialize(`{"tools":{}}`), "tools/list": unknown}})
	if f := newErrorFacts(t, err); f.RPC != -32601 {
		t.Errorf("a server that promised tools: %+v", f)
	}
}

func TestTools_TotalBytesAreBounded(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("x", 7<<20)
	up, _, err := syncScript(t, mcptest.Script{On: map[string]mcptest.Handler{
		"tools/list": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, fmt.Sprintf(`{"tools":[],"nextCursor":"%d","_meta":"%s"}`, c.N, filler))
		}),
	}})
	want := errorFacts{Phase: mcp.PhaseList, Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: "lists tools of over 64 MiB"}
	if diff := cmp.Diff(want, newErrorFacts(t, err)); diff != "" || len(up.Calls()) != 2+10 {
		t.Errorf("%d calls (-want +got):\n%s", len(up.Calls()), diff)
	}
}
