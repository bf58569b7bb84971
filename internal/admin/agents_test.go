package admin_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/png"
	"sync"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/agentview"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/store"
	"patchbay/internal/toolcall"
)

// agentServices serve agents, with notifications from the database.
type agentServices struct {
	access  *agentview.Cache
	calls   *toolcall.Executor
	history *calllog.Writer
}

func (d *dashboard) newAgentServices(dialer *mcp.Dialer) agentServices {
	d.t.Helper()
	a := agentServices{
		access:  agentview.New(agentview.Options{Store: d.St}),
		history: calllog.New(calllog.Options{Store: d.St, Instance: d.Instance, Interval: time.Millisecond}),
	}
	a.calls = toolcall.New(toolcall.Options{
		Store: d.St, Access: a.access, Credentials: credentials.New(d.St), Dialer: dialer, Target: d.syncer.Target,
		History: a.history, Instance: d.Instance, BaseURL: d.base,
	})
	ctx, end := context.WithCancel(context.Background())
	var tasks sync.WaitGroup
	tasks.Go(func() { a.access.Run(ctx) })
	tasks.Go(func() {
		_ = d.St.Watch(ctx, func(n store.ChangeEvent) { a.access.OnNotify(n); a.calls.OnNotify(n) }, func(yes bool) { a.access.SetConnected(yes); a.calls.SetConnected(yes) })
	})
	a.calls.Start(ctx)
	d.t.Cleanup(func() {
		stopping, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		a.calls.Stop(stopping)
		a.history.Stop(stopping)
		end()
		tasks.Wait()
	})
	d.calls, d.access, d.history = a.calls, a.access, a.history
	return a
}

func newCallID() connectors.ToolCallID {
	return connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}
}

// newCall is an agent's call of the tool "search".
func newCall(a connectors.Agent, c connectors.Connector, status connectors.CallStatus) connectors.ToolCall {
	return connectors.ToolCall{
		ID: newCallID(), AgentID: &a.ID, AgentSlug: a.Slug, ConnectorID: &c.ID, ConnectorSlug: c.Slug, Kind: connectors.CallTool,
		Tool: "search", ExposedName: connectors.ExposedName(c.Slug, "search"), Source: connectors.SourceGateway, Status: status,
		Arguments: []byte(`{"q":"x"}`), RequestBytes: 9, StartedAt: time.Now(),
	}
}

// createWaitingCall stores a call that waits for approval.
func (d *dashboard) createWaitingCall(tenant connectors.TenantID, a connectors.Agent, c connectors.Connector) connectors.ToolCallID {
	d.t.Helper()
	call, door := newCall(a, c, connectors.CallPendingApproval), d.St.Tenant(tenant)
	_, _, err := door.Calls().RequestApproval(d.t.Context(), store.NewApproval{
		ID: call.ID, AgentID: a.ID, ConnectorID: c.ID, Tool: call.Tool, ExposedName: call.ExposedName, CallHash: []byte(call.ID.String()),
		Call: `{"q":"all of it"}`, ExpiresAt: time.Now().Add(time.Hour),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := door.Calls().InsertPendingCall(d.t.Context(), call); err != nil {
		d.t.Fatal(err)
	}
	return call.ID
}

// createEndedCall stores a call that has ended.
func (d *dashboard) createEndedCall(tenant connectors.TenantID, call connectors.ToolCall) connectors.ToolCallID {
	d.t.Helper()
	call.CompletedAt, call.Duration = new(time.Now()), 340*time.Millisecond
	if err := d.St.System().Calls().EndCalls(d.t.Context(), []store.OwnedCall{{Tenant: tenant, ToolCall: call}}); err != nil {
		d.t.Fatal(err)
	}
	return call.ID
}

// createPictureCall stores a call with a picture as its result.
func (d *dashboard) createPictureCall(tenant connectors.TenantID, a connectors.Agent, c connectors.Connector) connectors.ToolCallID {
	d.t.Helper()
	call := newCall(a, c, connectors.CallSuccess)
	call.Outcome, call.Content = connectors.OutcomeOK, []byte(`[{"type":"image","mimeType":"image/png","data":"`+onePixel()+`"}]`)
	return d.createEndedCall(tenant, call)
}

// onePixel is a PNG in base64.
func onePixel() string {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1)))
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func (d *dashboard) createToken(tenant connectors.TenantID, a connectors.AgentID) connectors.AgentTokenID {
	d.t.Helper()
	_, token := d.TokenIn(d.t, tenant, a)
	return token.ID
}

func (d *dashboard) findAgentAndConnector(agent, connector string) (connectors.Agent, connectors.Connector) {
	d.t.Helper()
	a, err := d.Door().Agents().Get(d.t.Context(), connectors.Ref(agent))
	if err != nil {
		d.t.Fatal(err)
	}
	c, err := d.Door().Connectors().Get(d.t.Context(), connectors.Ref(connector))
	if err != nil {
		d.t.Fatal(err)
	}
	return a, c
}
