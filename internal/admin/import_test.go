package admin_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// upload posts a form with a file, and pairs of other fields.
func (b *browser) upload(path, document, file string, fields ...string) page {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", ".mcp.json")
	if err == nil {
		_, err = part.Write([]byte(file))
	}
	if err == nil {
		err = w.WriteField("document", document)
	}
	for i := 0; err == nil && i < len(fields); i += 2 {
		err = w.WriteField(fields[i], fields[i+1])
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.base+path, &body)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	req.Header.Set("Origin", b.base)
	res, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var text bytes.Buffer
	if _, err := text.ReadFrom(res.Body); err != nil {
		b.t.Fatal(err)
	}
	return page{Status: res.StatusCode, Location: res.Header.Get("Location"), Header: res.Header, Body: text.String()}
}

const pasted = `{
  "mcpServers": {
    "linear": {"url": "https://mcp.linear.app/mcp", "headers": {"Authorization": "Bearer ${LINEAR_TOKEN}"}},
    "sealed": {"url": "https://sealed.example.com/mcp", "headers": {"X-Api-Key": "sEcret-key-1"}},
    "account": {"url": "https://account.example.com/mcp", "auth": {"type": "oauth2"}},
    "cookie": {"url": "https://cookie.example.com/mcp", "headers": {"Cookie": "sEcret-key-2"}},
  },
}`

func TestImport_PastedDocument(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.get("/connectors").want(t, http.StatusOK, "Import client config")
	b.get("/connectors/import").want(t, http.StatusOK, "Paste JSON, comments included.", "Or a file")
	before := d.snapshot()
	preview := b.post("/connectors/import/preview", url.Values{"document": {pasted}})
	preview.want(t, http.StatusOK, "3 to create, 1 can't be imported", "Nothing is stored", "line 3", "The token is missing; the document has ${LINEAR_TOKEN}.", "Patchbay doesn't send cookies.", "paste it or choose the file again")
	if after := d.snapshot(); after != before {
		t.Errorf("a preview stored something:\n%s\n%s", before, after)
	}
	done := b.post("/connectors/import", url.Values{"document": {pasted}})
	done.want(t, http.StatusOK, "3 created, 1 not imported", "Set it", `href="/connectors/linear/credentials"`, "Connect", "Patchbay doesn't send cookies.")
	b.get("/connectors").want(t, http.StatusOK, "linear", "sealed", "account", "/connectors/export?client=vscode")
	again := b.post("/connectors/import", url.Values{"document": {pasted}})
	again.want(t, http.StatusOK, "1 updated, 2 unchanged, 1 not imported", "Changes: credential.")
	for _, text := range []string{preview.Body, done.Body, again.Body, d.log.String()} {
		if strings.Contains(text, "sEcret") {
			t.Errorf("a secret comes back:\n%s", text)
		}
	}
}

func TestImport_PreviewIsAFragmentForScripts(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.header.Set("HX-Request", "true")
	p := b.post("/connectors/import/preview", url.Values{"document": {pasted}})
	p.want(t, http.StatusOK, "3 to create, 1 can't be imported")
	if p.says("<html") || p.says("<textarea") || p.says("sEcret") || !p.says(`id="import-preview"`) {
		t.Errorf("not the panel alone:\n%s", p.Body)
	}
	b.post("/connectors/import/preview", url.Values{"document": {"{\n,"}}).want(t, http.StatusOK, "Line 2: invalid JSON.", `id="import-preview"`)
}

func TestAChosenFileIsImported(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	b := d.signInAsRole(connectors.RoleAdmin)
	b.upload("/connectors/import/preview", "", pasted).want(t, http.StatusOK, "3 to create, 1 can't be imported")
	b.upload("/connectors/import", " \n", pasted).want(t, http.StatusOK, "3 created, 1 not imported")
	b.upload("/connectors/import", pasted, pasted).want(t, http.StatusUnprocessableEntity, "Paste or choose a file, not both.")
	b.upload("/connectors/import", "", "").want(t, http.StatusUnprocessableEntity, "Paste or choose a file.")
	b.upload("/connectors/import", "", "{\n\n\"sEcret").want(t, http.StatusBadRequest, "Line 3: unexpected end.")
	b.upload("/connectors/import", "", "//"+strings.Repeat("x", 1<<20)).want(t, http.StatusRequestEntityTooLarge, "Document larger than 1 MiB.")
	b.upload("/connectors/import", "", strings.Repeat("x", 5<<20)).want(t, http.StatusRequestEntityTooLarge)
}

func TestImport_IntoOwnTenant(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	theirs := d.ConnectorIn(t, d.Other)
	b := d.signInAsRole(connectors.RoleAdmin)
	document := `{"` + theirs.Slug + `": {"url": "` + theirs.URL + `", "description": "Taken"}}`
	b.post("/connectors/import", url.Values{"document": {document}}).want(t, http.StatusOK, "1 created")
	if _, err := d.Door().Connectors().Get(t.Context(), connectors.Ref(theirs.ID.String())); !fault.Is(err, fault.NotFound) {
		t.Errorf("theirs is seen: %v", err)
	}
	if now, err := d.OtherDoor().Connectors().Get(t.Context(), connectors.Ref(theirs.Slug)); err != nil || now.Description != "" {
		t.Errorf("%+v %v", now, err)
	}
}

func TestExport_CodexFileIsTOML(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t, func(c *connectors.Draft) { c.Auth.Type = connectors.AuthBearer })
	p := d.signInAsRole(connectors.RoleViewer).get("/connectors/export?client=codex")
	if got := p.Header.Get("Content-Type"); got != "application/toml" || !strings.HasPrefix(p.Body, "[mcp_servers]\n[mcp_servers."+c.Slug+"]\n") {
		t.Errorf("%s: %s", got, p.Body)
	}
	if got := p.Header.Get("Content-Disposition"); !strings.Contains(got, "config.toml") {
		t.Error(got)
	}
}

func TestAnExportIsAFileOfTheClient(t *testing.T) {
	t.Parallel()
	d := newDashboard(t)
	c := d.Connector(t, func(c *connectors.Draft) { c.Auth.Type = connectors.AuthBearer })
	d.Credential(t, c.ID, nil, "sEcret-token")
	b := d.signInAsRole(connectors.RoleViewer)
	for client, want := range map[string][2]string{
		"":               {"patchbay.json", "mcpServers"},
		"?client=claude": {".mcp.json", "mcpServers"},
		"?client=cursor": {"mcp.json", "mcpServers"},
		"?client=vscode": {"mcp.json", "servers"},

		"?client=windsurf": {"mcp_config.json", "mcpServers"},
		"?client=gemini":   {"settings.json", "mcpServers"},
		"?client=zed":      {"settings.json", "context_servers"},
	} {
		p := b.get("/connectors/export" + client)
		var file map[string]map[string]any
		var raw map[string]json.RawMessage
		err := json.Unmarshal([]byte(p.Body), &raw)
		if err == nil {
			file = map[string]map[string]any{want[1]: nil}
			var servers map[string]any
			err = json.Unmarshal(raw[want[1]], &servers)
			file[want[1]] = servers
		}
		if err != nil || p.Status != http.StatusOK || file[want[1]][c.Slug] == nil || strings.Contains(p.Body, "sEcret") {
			t.Errorf("%s: %d %v\n%s", client, p.Status, err, p.Body)
		}
		if got := p.Header.Get("Content-Disposition"); got != `attachment; filename="`+want[0]+`"` {
			t.Errorf("%s: %s", client, got)
		}
	}
	b.get("/connectors/export?client=emacs").want(t, http.StatusNotFound)
}
