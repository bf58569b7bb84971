package toolsync_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// serveNew replaces the document by one with other texts.
func (s *documentServer) serveNew(replacements ...string) {
	s.document, s.etag = strings.NewReplacer(replacements...).Replace(s.document), s.etag+"x"
}

// liveTools are the names of the connector's tools, without removed ones.
func (b *bundle) liveTools(t *testing.T, c connectors.Connector) (names []string) {
	t.Helper()
	for name, tool := range b.tools(t, c) {
		if tool.RemovedAt == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (b *bundle) toolNames(t *testing.T, c connectors.Connector) map[string]string {
	t.Helper()
	tools, err := b.Door().APIs().Tools(t.Context(), c.ID)
	must(t, err)
	names := map[string]string{}
	for _, tool := range tools {
		names[tool.Key] = tool.Name
	}
	return names
}

func TestSync_ARenamedOperationKeepsItsTool(t *testing.T) {
	t.Parallel()
	b, api := newBundle(t), newDocumentServer(t)
	c := b.addAPI(t, api.URL+"/openapi.json", "GET /notes/{id}", "GET /notes") // picked before names were stored
	b.mustSync(t, c)
	agent := b.Agent(t)
	must(t, b.Door().Agents().SetGrant(t.Context(), connectors.Grant{AgentID: agent.ID, ConnectorID: c.ID, Tools: []string{"getNote"}}))
	must(t, b.Door().Tools().Curate(t.Context(), c.ID, []store.CuratedTool{{Name: "getNote", Curation: connectors.Curation{Enabled: true, Alias: "read_note"}}}))
	before := b.tools(t, c)["getNote"]

	api.serveNew("getNote", "notes/fetch")
	if run := b.mustSync(t, c); run.Counts.Total != 2 || run.Counts.Changed+run.Counts.Added+run.Counts.Removed != 0 {
		t.Errorf("the counts are %+v", run.Counts)
	}
	if after := b.tools(t, c)["getNote"]; after.Alias != "read_note" || after.RemovedAt != nil || after.Review != before.Review || string(after.Raw) != string(before.Raw) {
		t.Errorf("the tool is %+v", after)
	}
	if usable, err := b.Door().Agents().AgentsGranted(t.Context(), c.ID, "getNote"); err != nil || len(usable) != 1 {
		t.Errorf("the tool is granted to %v, %v", usable, err)
	}
	if stored := b.toolNames(t, c); !maps.Equal(stored, map[string]string{"GET /notes/{id}": "getNote", "GET /notes": "listNotes"}) {
		t.Errorf("the stored names are %v", stored)
	}

	api.serveNew("Get a note", "Read a note", "notes/fetch", "third") // another difference is reviewed
	if run := b.mustSync(t, c); run.Counts.Changed != 1 || run.Counts.Total != 2 {
		t.Errorf("the counts are %+v", run.Counts)
	}
	if live := b.liveTools(t, c); !slices.Equal(live, []string{"getNote", "listNotes"}) {
		t.Errorf("the tools are %q", live)
	}
}

func TestSync_OperationsThatSwapIDsKeepTheirTools(t *testing.T) {
	t.Parallel()
	b, api := newBundle(t), newDocumentServer(t)
	c := b.addAPI(t, api.URL+"/openapi.json", "GET /notes/{id}", "GET /notes")
	b.mustSync(t, c)
	api.serveNew(`"getNote"`, `"listNotes"`, `"listNotes"`, `"getNote"`)
	if run := b.mustSync(t, c); run.Counts.Total != 2 || run.Counts.Changed+run.Counts.Added+run.Counts.Removed != 0 {
		t.Errorf("the counts are %+v", run.Counts)
	}
	if raw := string(b.tools(t, c)["getNote"].Raw); !strings.Contains(raw, `"path":"/notes/{id}"`) {
		t.Errorf("getNote is %s", raw)
	}
}

func TestSync_AStoredNameHasPriorityOverANewID(t *testing.T) {
	t.Parallel()
	b, api := newBundle(t), newDocumentServer(t)
	c := b.addAPI(t, api.URL+"/openapi.json", "GET /notes/{id}")
	b.mustSync(t, c)
	api.serveNew(`"getNote"`, `"readNote"`, `"listNotes"`, `"getNote"`)
	must(t, b.Door().APIs().SaveTools(t.Context(), c.ID, []connectors.APITool{{Key: "GET /notes"}}))
	if run := b.mustSync(t, c); run.Counts.Total != 2 || run.Counts.Changed+run.Counts.Removed != 0 {
		t.Errorf("the counts are %+v", run.Counts)
	}
	tools := b.tools(t, c)
	if raw := string(tools["getNote"].Raw); !strings.Contains(raw, `"path":"/notes/{id}"`) {
		t.Errorf("getNote is %s", raw)
	}
	if live := b.liveTools(t, c); len(live) != 2 || !strings.Contains(string(tools[live[1]].Raw), `"path":"/notes"`) {
		t.Errorf("the tools are %q", live)
	}
}
