package toolcall_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
)

// ownCall is a call of an admin's own.
func (b *bench) ownCall(c connectors.Connector, tool, arguments string) toolcall.OwnCall {
	return toolcall.OwnCall{
		Actor: b.actor(connectors.RoleAdmin), Connector: connectors.Ref(c.Slug), Tool: tool, Arguments: json.RawMessage(arguments), Source: connectors.SourceDashboard,
	}
}

func (b *bench) runOwn(t *testing.T, own toolcall.OwnCall) (connectors.ToolCall, error) {
	t.Helper()
	return b.RunOwnCall(t.Context(), own, time.Minute)
}

// tryEvents are the audit entries of own calls, newest first.
func (b *bench) tryEvents(t *testing.T) []store.RecordedEvent {
	t.Helper()
	list, err := b.Door().Audit().List(t.Context(), store.AuditFilter{Action: "tool.try"})
	must(t, err)
	return list.Items
}

func wantFault(t *testing.T, err error, kind fault.Kind, part string) {
	t.Helper()
	if f := fault.As(err); f == nil || f.Kind != kind || !strings.Contains(f.Message, part) {
		t.Errorf("err = %v, want %v with %q", err, kind, part)
	}
}

func TestOwnCall_NeedsNoGrantAndIsOnRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	b.saveCredential(t, c, nil, connectors.Secret{Token: "shared"})
	call, err := b.runOwn(t, b.ownCall(c, "read", `{}`))
	must(t, err)
	if call.Status != connectors.CallSuccess || !strings.Contains(string(call.Content), "read") || b.remote.callsWith("Bearer shared") != 1 {
		t.Errorf("%+v", call)
	}
	row := b.row(t, call.ID)
	if row.AgentID != nil || row.AgentSlug != "" || row.Caller != "Dana" || row.Source != connectors.SourceDashboard || row.Kind != connectors.CallTool || row.CredentialID == nil {
		t.Errorf("the history has %+v", row)
	}
	events := b.tryEvents(t)
	if len(events) != 1 || events[0].ActorName != "Dana" || events[0].Target != c.Slug+"/read" || !strings.Contains(string(events[0].Detail), call.ID.String()) {
		t.Errorf("the audit log has %+v", events)
	}
}

func TestOwnCall_AsksBeforeWhatMayDoHarm(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	b.syncTools(t, c, searchTool, readTool, `{"name":"add","inputSchema":{"type":"object"},"annotations":{"destructiveHint":false}}`)
	for tool, asks := range map[string]bool{"search": true, "read": false, "add": false} {
		_, err := b.runOwn(t, b.ownCall(c, tool, `{}`))
		if f := fault.As(err); asks != (f != nil) || asks && (f.Type != toolcall.TypeConfirmationRequired || f.Code != "confirmation_required") {
			t.Errorf("%s: %v", tool, err)
		}
	}
	b.remote.wantCalls(t, 2)
	if n := len(b.tryEvents(t)); n != 2 {
		t.Errorf("%d calls match", n)
	}
	own := b.ownCall(c, "search", `{"q":"x"}`)
	own.Confirmed = true
	call, err := b.runOwn(t, own)
	must(t, err)
	if call.Status != connectors.CallSuccess || call.ApprovedBy != "" || !strings.Contains(string(b.tryEvents(t)[0].Detail), `"confirmed": true`) {
		t.Errorf("%+v, %s", call, b.tryEvents(t)[0].Detail)
	}
	own.Confirmed, own.Arguments = false, json.RawMessage(`{"q":1}`)
	if _, err := b.runOwn(t, own); !isInvalidArguments(err) {
		t.Errorf("wrong arguments: %v", err)
	}
}

func isInvalidArguments(err error) bool {
	_, ok := errors.AsType[*toolcall.InvalidArgumentsError](err)
	return ok
}

func TestOwnCall_UsesTheNamedAccount(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, perAgent)
	a, other := b.Agent(t, func(a *connectors.Agent) { a.Enabled = false }), b.Agent(t)
	b.saveCredential(t, c, &a.ID, connectors.Secret{Token: "one"})
	own := b.ownCall(c, "read", `{}`)
	_, err := b.runOwn(t, own)
	wantFault(t, err, fault.Invalid, "Name the agent")
	own.Account = "nobody"
	_, err = b.runOwn(t, own)
	wantFault(t, err, fault.NotFound, "agent")
	own.Account = connectors.Ref(other.Slug)
	call, err := b.runOwn(t, own)
	must(t, err)
	if call.ErrorCode != string(toolcall.CodeCredentialRequired) {
		t.Errorf("without an account: %+v", call)
	}
	own.Account = connectors.Ref(a.Slug)
	call, err = b.runOwn(t, own)
	must(t, err)
	row := b.row(t, call.ID)
	if call.Status != connectors.CallSuccess || b.remote.callsWith("Bearer one") != 1 || row.AgentID != nil || row.CredentialID == nil {
		t.Errorf("%+v", row)
	}
	if detail := string(b.tryEvents(t)[0].Detail); !strings.Contains(detail, a.Slug) {
		t.Errorf("the audit log does not name the account: %s", detail)
	}
	shared := b.ownCall(b.connector(t, b.remote), "read", `{}`)
	shared.Account = connectors.Ref(a.Slug)
	_, err = b.runOwn(t, shared)
	wantFault(t, err, fault.Invalid, "share one credential")
}

func TestOwnCall_NeedsAnAdminAndAToolThatIsServed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesHoldAll })
	member := b.ownCall(c, "read", `{}`)
	member.Actor = b.actor(connectors.RoleMember)
	_, err := b.runOwn(t, member)
	wantFault(t, err, fault.Denied, "admin")
	_, err = b.runOwn(t, b.ownCall(c, "none", `{}`))
	wantFault(t, err, fault.NotFound, "tool")

	b.Resynced(t, c.ID, fixture.DefinitionOf("read", `{"name":"read","description":"Other.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`))
	_, err = b.runOwn(t, b.ownCall(c, "read", `{}`))
	wantFault(t, err, fault.Conflict, "has not been accepted again")
	_, err = b.runOwn(t, b.ownCall(c, "search", `{}`))
	wantFault(t, err, fault.Conflict, "no longer offers the tool")
	must(t, b.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		return tx.Tools().Curate(t.Context(), c.ID, []store.CuratedTool{{Name: "read"}})
	}))
	_, err = b.runOwn(t, b.ownCall(c, "read", `{}`))
	wantFault(t, err, fault.Conflict, "is disabled. An admin can enable it.")
	b.remote.wantCalls(t, 0)
	if n := len(b.tryEvents(t)); n != 0 {
		t.Errorf("%d refused calls are on record as made", n)
	}
}

// A definition that changed after the admin saw it is not called.
func TestOwnCall_RefusesAToolThatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	b, syncs := newResyncBench(t, resyncTo(t, poisonedTool))
	c := b.connector(t, b.remote, withDefinitionAge)
	b.clock.advance(16 * time.Minute)
	own := b.ownCall(c, "search", `{}`)
	own.Confirmed = true
	call, err := b.runOwn(t, own)
	must(t, err)
	if call.ErrorCode != string(toolcall.CodeHeld) || !strings.Contains(call.ErrorMessage, "changed meanwhile") || syncs.Load() != 1 {
		t.Errorf("%+v after %d syncs", call, syncs.Load())
	}
	b.remote.wantCalls(t, 0)
}

func TestOwnCall_KeepsToTheQuotaOfTheTool(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote)
	must(t, b.Door().Tx(t.Context(), func(tx *store.Tenant) error {
		return tx.Tools().Curate(t.Context(), c.ID, []store.CuratedTool{{Name: "read", Curation: connectors.Curation{Enabled: true, Quota: connectors.Quota{PerDay: 1}}}})
	}))
	_, err := b.runOwn(t, b.ownCall(c, "read", `{}`))
	must(t, err)
	call, err := b.runOwn(t, b.ownCall(c, "read", `{}`))
	wantFault(t, err, fault.RateLimited, "allows 1 call per day")
	if call.ErrorCode != string(toolcall.CodeQuotaExceeded) {
		t.Errorf("%+v", call)
	}
	b.remote.wantCalls(t, 1)
}
