package calls

import (
	"strings"
	"testing"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
)

func TestACallSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		told          connectors.CallProgress
		text, percent string
	}{
		{connectors.CallProgress{}, "", ""},
		{connectors.CallProgress{Message: "thinking"}, "Working: “thinking”", ""},
		{connectors.CallProgress{Done: new(0.0)}, "At 0", ""},
		{connectors.CallProgress{Done: new(3.0), Total: 10, Message: "copying"}, "3 of 10: “copying”", "30"},
		{connectors.CallProgress{Done: new(0.5), Total: 1}, "0.5 of 1", "50"},
		{connectors.CallProgress{Done: new(12345678.0), Total: 1e9}, "12,345,678 of 1,000,000,000", "1"},
		{connectors.CallProgress{Done: new(12.0), Total: 10}, "12 of 10", "100"},
		{connectors.CallProgress{Done: new(-1e300), Total: -4}, "At -1e+300", ""},
		{connectors.CallProgress{Done: new(1e300), Total: 1e-300}, "1e+300 of 1e-300", "100"},
		{connectors.CallProgress{Done: new(1.0), Message: "a\u202eb\x00" + strings.Repeat("x", 500)}, "At 1: “" + shell.ShortenText("a\u202eb\x00"+strings.Repeat("x", 500), shell.MaxNote) + "”", ""},
	} {
		if have := ServerProgress(t.Context(), &tc.told); have != tc.text {
			t.Errorf("%+v: %q, want %q", tc.told, have, tc.text)
		}
		if have := percentDone(&tc.told); have != tc.percent {
			t.Errorf("%+v: %q percent, want %q", tc.told, have, tc.percent)
		}
	}
	if ServerProgress(t.Context(), nil) != "" || percentDone(nil) != "" {
		t.Error("a call of which nothing was told says how far it is")
	}
}

// TestTaskProgress_HasNumbersOfNotifications is about a task of which a notification had numbers, or its message has.
func TestTaskProgress_HasNumbersOfNotifications(t *testing.T) {
	t.Parallel()
	noted := &connectors.CallProgress{Done: new(30.0), Total: 120, Message: "copying"}
	for _, tc := range []struct {
		task          string
		noted         *connectors.CallProgress
		text, percent string
	}{
		{`{"status":"working","statusMessage":"page 3"}`, noted, "30 of 120: “page 3”", "25"},
		{`{"status":"working"}`, noted, "30 of 120: “copying”", "25"},
		{`{"status":"working"}`, &connectors.CallProgress{Done: new(1.0)}, "At 1", ""},
		{`{"status":"working","statusMessage":"page 40 of 100"}`, &connectors.CallProgress{Message: "page 40 of 100"}, "Working: “page 40 of 100”", "40"},
		{`{"status":"input_required","statusMessage":"which one?"}`, noted, "Needs input: “which one?”", "25"},
		{"", &connectors.CallProgress{Done: new(3.0), Message: "3/4 done"}, "At 3: “3/4 done”", "75"},
		{"", nil, "", ""},
	} {
		c := connectors.ToolCall{Task: []byte(tc.task), Progress: tc.noted}
		if have := callProgress(t.Context(), c); have != tc.text {
			t.Errorf("%s %+v: %q, want %q", tc.task, tc.noted, have, tc.text)
		}
		if have := callPercent(c); have != tc.percent {
			t.Errorf("%s %+v: %q percent, want %q", tc.task, tc.noted, have, tc.percent)
		}
	}
}

func TestTaskProgress_IsReadFromItsMessage(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"Reading page 40 of 100": "40", "3/4 done": "75", "(3/4)": "75", "at 12 %, go on": "12", "100%": "100", "0 of 5": "0",
		"": "", "thinking": "", "page 3": "", "5 of 4": "", "0 of 0": "", "28/11/2026": "", "v1/2x": "", "1 of 2 and 3 of 4": "", "150%": "", "-5%": "",
	} {
		if have := percentSaid(message); have != want {
			t.Errorf("%q: %q, want %q", message, have, want)
		}
	}
}
