package manage_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
	"patchbay/internal/openapi"
)

const notesDocument = `{"openapi":"3.1.0","info":{"title":"Notes","version":"2"},"paths":{"/notes":{
	"get":{"operationId":"listNotes","responses":{"200":{"description":""}}},"post":{"operationId":"addNote","responses":{"201":{"description":""}}}}}}`

func (b *testEnv) newAPI(t *testing.T) connectors.Ref {
	t.Helper()
	c := b.Connector(t, func(d *connectors.Draft) { d.Transport, d.URL = connectors.TransportAPI, "https://one.example.com/v1" })
	if err := b.Door().APIs().SaveDocument(t.Context(), c.ID, connectors.APIDocument{Body: []byte(notesDocument)}); err != nil {
		t.Fatal(err)
	}
	return connectors.Ref(c.Slug)
}

func (b *testEnv) readAPI(t *testing.T, ref connectors.Ref) manage.APIOverview {
	t.Helper()
	o, err := b.reg.ReadAPI(t.Context(), b.Tenant, ref)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestSavePicks_StoresAllOrNothing(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ref := b.newAPI(t)
	o := b.readAPI(t, ref)
	unstorable := o
	unstorable.Operations = append(slices.Clone(o.Operations), manage.OperationSummary{Key: "\x00"})
	if _, err := b.reg.SavePicks(t.Context(), b.admin, unstorable, map[string]bool{"GET /notes": true}); err == nil {
		t.Fatal("stored a key that the database refuses")
	}
	var events int
	b.AsSystem(t, "select count(*) from audit_events where action = 'connector.update'", nil, &events)
	if o := b.readAPI(t, ref); len(o.Tools) > 0 || len(o.Document.Seen) > 0 || events > 0 {
		t.Errorf("the failed change stored tools %v, seen %q and %d events", o.Tools, o.Document.Seen, events)
	}
	if changed, err := b.reg.SavePicks(t.Context(), b.admin, o, map[string]bool{"GET /notes": true}); !changed || err != nil {
		t.Errorf("changed %t, %v", changed, err)
	}
	o = b.readAPI(t, ref)
	if len(o.Tools) != 1 || !slices.Equal(o.Document.Seen, []string{"GET /notes", "POST /notes"}) {
		t.Errorf("tools %v, seen %q", o.Tools, o.Document.Seen)
	}
}

func TestPickOperations_RecordsWhatIsPassedOver(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ref := b.newAPI(t)
	id := b.readAPI(t, ref).Connector.ID
	if err := b.Door().APIs().SetSeen(t.Context(), id, []string{"GET /gone"}); err != nil {
		t.Fatal(err)
	}
	failures := make(chan error)
	for _, key := range []string{"GET /notes", "POST /notes"} {
		go func() { failures <- b.reg.PickOperations(t.Context(), b.admin, ref, nil, []string{key}) }()
	}
	if err := errors.Join(<-failures, <-failures); err != nil {
		t.Fatal(err)
	}
	seen := b.readAPI(t, ref).Document.Seen
	slices.Sort(seen)
	var events int
	b.AsSystem(t, "select count(*) from audit_events where action = 'connector.update' and detail::text like '%passed_over%'", nil, &events)
	if !slices.Equal(seen, []string{"GET /gone", "GET /notes", "POST /notes"}) || events != 2 {
		t.Errorf("seen %q, %d events", seen, events)
	}
}

func TestAddEndpoint_ChecksAndRecordsAnnotations(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ref := b.newAPI(t)
	e := openapi.Endpoint{Name: "ping", Method: "GET", URL: "https://one.example.com/ping", Annotations: map[string]bool{"odd": true}}
	if err := b.reg.AddEndpoint(t.Context(), b.admin, ref, e); !fault.Is(err, fault.Invalid) {
		t.Errorf("an unknown annotation: %v", err)
	}
	e.Annotations = map[string]bool{"readOnlyHint": false}
	if err := b.reg.AddEndpoint(t.Context(), b.admin, ref, e); err != nil {
		t.Fatal(err)
	}
	var events int
	b.AsSystem(t, "select count(*) from audit_events where action = 'endpoint.create' and detail::text like '%readOnlyHint%'", nil, &events)
	if events != 1 {
		t.Errorf("%d events have the annotations", events)
	}
}

func TestSavePicks_OfNothingNewSeesTheDocument(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ref := b.newAPI(t)
	if changed, err := b.reg.SavePicks(t.Context(), b.admin, b.readAPI(t, ref), nil); changed || err != nil {
		t.Errorf("changed %t, %v", changed, err)
	}
	if o := b.readAPI(t, ref); len(o.Document.Seen) != 2 {
		t.Errorf("seen %q", o.Document.Seen)
	}
	if _, err := b.reg.SavePicks(t.Context(), b.actor(connectors.RoleViewer), b.readAPI(t, ref), nil); !fault.Is(err, fault.Denied) {
		t.Errorf("a viewer: %v", err)
	}
}

// The names on the page of operations are those of the tools, although the document's ids changed.
func TestReadAPI_PickedOperationsKeepTheirNames(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ref := b.newAPI(t)
	if err := b.reg.PickOperations(t.Context(), b.admin, ref, []string{"GET /notes"}, nil); err != nil {
		t.Fatal(err)
	}
	names := func() (get, post string) {
		for _, op := range b.readAPI(t, ref).Operations {
			if op.Key == "GET /notes" {
				get = op.Name
			} else {
				post = op.Name
			}
		}
		return get, post
	}
	renamed := strings.NewReplacer("listNotes", "readNotes", "addNote", "listNotes").Replace(notesDocument)
	if _, _, err := b.reg.UpdateConnector(t.Context(), b.admin, ref, manage.Change{Document: []byte(renamed)}); err != nil {
		t.Fatal(err)
	}
	get, post := names()
	if get != "listNotes" || !strings.HasPrefix(post, "listNotes_") {
		t.Errorf("the operations are named %s and %s", get, post)
	}
	endpoint := openapi.Endpoint{Name: "listNotes", Method: "GET", URL: "https://one.example.com/v1/all"}
	if err := b.reg.AddEndpoint(t.Context(), b.admin, ref, endpoint); !fault.Is(err, fault.Conflict) {
		t.Errorf("an endpoint with the name of a tool: %v", err)
	}
	endpoint.Name = "readNotes"
	if err := b.reg.AddEndpoint(t.Context(), b.admin, ref, endpoint); err != nil {
		t.Errorf("an endpoint with an id that names no tool: %v", err)
	}
	if err := b.reg.PickOperations(t.Context(), b.admin, ref, []string{"POST /notes"}, nil); err != nil {
		t.Fatal(err)
	}
	if stored := b.readAPI(t, ref).Tools; len(stored) != 3 || stored[0].Name != "listNotes" || stored[1].Name != post {
		t.Errorf("stored %+v", stored)
	}
}

// An operation that moved to another path takes the tool with it.
func TestPickOperations_AnOperationThatIsGoneLeavesItsName(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ref := b.newAPI(t)
	if err := b.reg.PickOperations(t.Context(), b.admin, ref, []string{"GET /notes"}, nil); err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(notesDocument, `"/notes"`, `"/v2/notes"`, 1)
	if _, _, err := b.reg.UpdateConnector(t.Context(), b.admin, ref, manage.Change{Document: []byte(moved)}); err != nil {
		t.Fatal(err)
	}
	if err := b.reg.PickOperations(t.Context(), b.admin, ref, []string{"GET /v2/notes"}, nil); err != nil {
		t.Fatal(err)
	}
	if stored := b.readAPI(t, ref).Tools; len(stored) != 2 || stored[0].Name != "" || stored[1].Name != "listNotes" {
		t.Errorf("stored %+v", stored)
	}
}

// Tools that were picked before names were stored are named by the document that an uploaded one replaces.
func TestUpdateConnector_NamesToolsBeforeTheDocumentIsReplaced(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	ref := b.newAPI(t)
	c := b.readAPI(t, ref).Connector
	if err := b.Door().APIs().SaveTools(t.Context(), c.ID, []connectors.APITool{{Key: "GET /notes", Filter: ".a"}}); err != nil {
		t.Fatal(err)
	}
	renamed := strings.ReplaceAll(notesDocument, "listNotes", "readNotes")
	if _, _, err := b.reg.UpdateConnector(t.Context(), b.admin, ref, manage.Change{Document: []byte(renamed)}); err != nil {
		t.Fatal(err)
	}
	if stored := b.readAPI(t, ref).Tools; len(stored) != 1 || stored[0].Name != "listNotes" || stored[0].Filter != ".a" {
		t.Errorf("stored %+v", stored)
	}
}
