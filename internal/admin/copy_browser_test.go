//go:build e2e

package admin_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	chromium "patchbay/internal/testing/browser"
	"patchbay/internal/testing/fixture"
)

// TestASchemaIsCopiedWithAClick copies with the browser's clipboard, without one, and when copying is refused.
func TestASchemaIsCopiedWithAClick(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"q":{"type":"string","description":"<What> & \"where\""}}}`
	d := newDashboard(t)
	run := d.Run(t, d.addConnectorAt("Linear", "https://mcp.example.com/mcp").ID)
	if _, err := d.Door().Syncs().Finish(t.Context(), run.ID, fixture.FirstResult(fixture.DefinitionOf("search", `{"name":"search","inputSchema":`+schema+`}`))); err != nil {
		t.Fatal(err)
	}
	tab := d.openSignedInTab(connectors.RoleMember)
	tab.Go(d.base + "/connectors/linear/tools/search")
	const button = `details.source[open] .code [data-copy]`
	wants := func(what string) {
		t.Helper()
		tab.WaitText("#said", "Copied")
		var have, want any
		if err := json.Unmarshal([]byte(chromium.Eval[string](tab, `window.taken`)), &have); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		_ = json.Unmarshal([]byte(schema), &want)
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		chromium.Eval[bool](tab, `(window.taken = "", document.getElementById("said").replaceChildren(), true)`)
	}

	chromium.Eval[bool](tab, `(navigator.clipboard.writeText = async (text) => { window.taken = text }, true)`)
	tab.Click("details.source > summary")
	tab.Click(button)
	wants("the clipboard")

	// Without TLS there is no clipboard, but document.execCommand, which copies the selection.
	chromium.Eval[bool](tab, `(navigator.clipboard.writeText = async () => { throw new Error("refused") },
		document.addEventListener("copy", () => { window.taken = document.activeElement.value }), true)`)
	tab.Click(button)
	wants("the old way")

	chromium.Eval[bool](tab, `(document.execCommand = () => false, true)`)
	tab.Click(button)
	tab.WaitText("#said", "The browser blocked copying. The text is selected")
	if selected := chromium.Eval[string](tab, `getSelection().toString()`); selected != chromium.Eval[string](tab, `document.querySelector("details.source[open] pre").textContent`) {
		t.Errorf("selected is %q", selected)
	}
}
