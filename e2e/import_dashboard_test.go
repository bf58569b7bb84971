//go:build e2e

package e2e_test

import (
	"net/http"
	"strconv"
	"testing"

	"patchbay/internal/testing/browser"
)

// paste puts a text into the document's field at once: typed, its quotes and braces would each be a key.
func paste(tab *browser.Tab, text string) {
	browser.Eval[bool](tab, `(document.querySelector("[name=document]").value = `+strconv.Quote(text)+`) !== null`)
}

func TestADocumentIsPreviewedAndImportedInTheBrowser(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	upstream, _ := c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors/tools", nil)["url"].(string)
	document := `{
  "mcpServers": {
    "fresh": {"url": "` + upstream + `"},
    "linear": {"type": "http", "url": "https://mcp.linear.example/mcp", "headers": {"Authorization": "Bearer ${LINEAR_TOKEN}"}},
    "guarded": {"timeout_ms": 5000, "url": "` + upstream + `"},
    "cookie": {"url": "https://cookie.example/a/very/long/path/that/does/not/end/soon/mcp", "headers": {"Cookie": "sekret"}},
    "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]},
  },
}`
	look := newLooker(t, tab)
	tab.Go(s.base + "/connectors")
	tab.Click("button[popovertarget=exports]")
	tab.WaitText("#exports", "VS Code")
	look.at("import-exports")
	tab.Go(s.base + "/connectors")
	tab.Click("main [popovertarget=add-connector]")
	tab.Click("#add-connector a[href='/connectors/import']")
	tab.WaitPath("/connectors/import")
	look.at("import-new")

	paste(tab, document)
	tab.Click("button[formaction^='/connectors/import/preview']")
	tab.WaitText("#import-preview", "2 to create, 1 to update, 2 can't be imported")
	tab.WaitText("#import-preview", "the document has ${LINEAR_TOKEN}")
	if got := tab.Value("[name=document]"); got != document {
		t.Errorf("the preview lost the document: %q", got)
	}
	if browser.Eval[bool](tab, `document.querySelector("#import-preview").textContent.includes("sekret")`) {
		t.Error("the preview tells a secret")
	}
	look.at("import-preview")
	tab.Click("main form .actions button:not([formaction])")
	tab.WaitText("main", "2 created, 1 updated, 2 not imported")
	look.at("imported")
	tab.Click("a[href='/connectors/linear/credentials']")
	tab.WaitPath("/connectors/linear/credentials")

	tab.Go(s.base + "/connectors/import")
	tab.WaitPath("/connectors/import")
	paste(tab, "{\n\"a\": }")
	tab.Click("main form .actions button:not([formaction])")
	tab.WaitText("main .error", "Line 2: invalid JSON.")
	tab.Forgive("400")
	look.at("import-wrong")

	tab.Scripts(false)
	tab.Go(s.base + "/connectors/import")
	tab.WaitPath("/connectors/import")
	paste(tab, document)
	tab.Click("button[formaction^='/connectors/import/preview']")
	tab.WaitText("#import-preview", "3 unchanged, 2 can't be imported")
	tab.WaitText("#import-preview", "paste it or choose the file again")
}
