package calls

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func readResult(t *testing.T, raw string) ToolResult {
	t.Helper()
	var r ToolResult
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestResultView_ByBlockType(t *testing.T) {
	t.Parallel()
	pictures := func(n int) string { return fmt.Sprintf("/pictures/%d", n) }
	have := ResultView(t.Context(), readResult(t, `{"isError":true,"structuredContent":{"n":9007199254740993},"content":[
		{"type":"text","text":"<b>plain</b>\u202e"}, {"type":"text","text":" {\"a\":1} "},
		{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}, {"type":"image","mimeType":"image/png","data":"AAAA"}, {"type":"image","mimeType":"image/svg+xml","data":"AAA="}, {"type":"audio","mimeType":"audio/wav","data":"AAAAAAAA"},
		{"type":"resource_link","uri":"file:///a","name":"A","mimeType":"text/plain","size":2048}, {"type":"resource","resource":{"uri":"file:///b","text":"b"}},
		{"type":"resource","resource":{"uri":"file:///c","mimeType":"application/pdf","blob":"AAAA"}}, {"type":"new","x":1}, 7]}`), pictures)
	want := templates.Result{
		State: templates.State{Kind: templates.StateBad, Text: "Tool error"}, Structured: "{\n  \"n\": 9007199254740993\n}",
		Blocks: []templates.ResultBlock{
			{Kind: templates.BlockText, Text: `<b>plain</b>\u202e`},
			{Kind: templates.BlockJSON, Text: "{\n  \"a\": 1\n}"},
			{Kind: templates.BlockImage, Title: "Image", About: "image/png · 8 bytes", Src: "/pictures/2"},
			{Kind: templates.BlockImage, Title: "Image", About: "image/png · 3 bytes, not a valid image"},
			{Kind: templates.BlockImage, Title: "Image", About: "image/svg+xml · 2 bytes, not shown"},
			{Kind: templates.BlockFile, Title: "Audio", About: "audio/wav · 6 bytes"},
			{Kind: templates.BlockLink, Title: "A", Text: "file:///a", About: "text/plain · 2.0 KiB"},
			{Kind: templates.BlockText, Title: "file:///b", Text: "b"},
			{Kind: templates.BlockFile, Title: "Resource", Text: "file:///c", About: "application/pdf · 3 bytes"},
			{Kind: templates.BlockJSON, Text: "{\n  \"type\": \"new\",\n  \"x\": 1\n}"},
			{Kind: templates.BlockJSON, Text: "7"},
		},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

func TestAHugeResultMakesNoHugePage(t *testing.T) {
	t.Parallel()
	many := readResult(t, `{"content":[`+strings.Repeat(`{"type":"text","text":"x"},`, 5000)+`{"type":"text","text":"x"}]}`)
	if v := ResultView(t.Context(), many, nil); len(v.Blocks) != MaxBlocks || v.Note != "4,951 blocks not shown." {
		t.Errorf("%d blocks, %q", len(v.Blocks), v.Note)
	}
	large := readResult(t, `{"content":[`+strings.Repeat(`{"type":"text","text":"`+strings.Repeat("ü", 1<<20)+`"},`, 20)+`7]}`)
	shown := 0
	for _, b := range ResultView(t.Context(), large, nil).Blocks {
		shown += len(b.Text)
	}
	if shown > 4*maxResultText {
		t.Errorf("%d bytes are shown", shown)
	}
	if v := ResultView(t.Context(), readResult(t, `{"content":"odd","isError":"odd"}`), nil); v.Note != "Empty result." || v.State.Kind != templates.StateOK {
		t.Errorf("an odd result: %+v", v)
	}
}

func TestACallSaysHowItEnded(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		call   connectors.ToolCall
		state  string
		reason string
	}{
		{connectors.ToolCall{Status: connectors.CallRunning}, "Running", ""},
		{connectors.ToolCall{Status: connectors.CallSuccess, Outcome: connectors.OutcomeOK}, "Success", ""},
		{connectors.ToolCall{Status: connectors.CallError, Outcome: connectors.OutcomeToolError}, "Error", "Tool error"},
		{connectors.ToolCall{Status: connectors.CallError, Outcome: connectors.OutcomeLost}, "Error", "Unknown: Patchbay stopped"},
		{connectors.ToolCall{Status: connectors.CallError, Outcome: connectors.OutcomeTransport, ErrorMessage: "It is away."}, "Error", "It is away."},
		{connectors.ToolCall{Status: connectors.CallDenied, Outcome: connectors.OutcomeDenied}, "Denied", "Denied"},
		{connectors.ToolCall{Status: connectors.CallCancelled, ErrorMessage: "x"}, "Cancelled", ""},
	} {
		row := CallRow(t.Context(), tc.call, templates.Permissions{Sync: true}, noon)
		if row.State.Text != tc.state || row.Reason != tc.reason || (row.Cancel != "") == tc.call.Status.Ended() {
			t.Errorf("%s, %s: %+v", tc.call.Status, tc.call.Outcome, row)
		}
	}
}

func TestATaskSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		``: "", `{`: "", `{"status":"working"}`: "Working", `{"status":"working","statusMessage":"page 3"}`: "Working: “page 3”",
		`{"status":"input_required"}`: "Needs input", `{"status":"completed"}`: "Task: completed",
	} {
		if have := taskProgress(t.Context(), []byte(raw), nil); have != want {
			t.Errorf("%s: %q, want %q", raw, have, want)
		}
	}
}

func TestHowOftenIsWords(t *testing.T) {
	t.Parallel()
	for want, n := range map[string][2]int{
		"Not called recently.": {0, 0}, "Recently called once.": {1, 0}, "Recently called 12 times, denied once.": {12, 1}, "Recently called 1,204 times, denied twice.": {1204, 2},
	} {
		if have := recentCallsText(t.Context(), n[0], n[1]); have != want {
			t.Errorf("%q, want %q", have, want)
		}
	}
}
