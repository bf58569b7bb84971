package manage_test

import (
	"slices"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/manage"
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
