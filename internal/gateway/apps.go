package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/limit"
	"patchbay/internal/mcp"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/store"
)

// MCP Apps (SEP-1865): a server's UI resources, tools that link to them, and calls that apps make through their host.

// Bounds of what is known about apps.
const (
	maxAppReads   = 1 << 14         // of a generation of the cache
	maxAppQueries = 8               // of one look at the history
	maxAppRows    = 10              // of a query: an agent may read one resource with each of several accounts
	appReadWindow = 12 * time.Hour  // of the history
	appReadRetry  = 2 * time.Second // until the history is read again
)

// appRead is an agent that read a UI resource of a connector.
type appRead struct {
	agent     connectors.AgentID
	connector connectors.ConnectorID
	account   string // of several
}

func (b *backend) newAppRead(connector *agentview.ConnectorView) appRead {
	return appRead{b.view.Agent.ID, connector.Connector.ID, connector.ChosenAccount()}
}

// appReads caches which agents read UI resources. A time is until when an agent is believed to have read none.
type appReads = limit.Recent[appRead, appKnown]

type appKnown struct {
	isRead     bool
	unreadTill time.Time
}

// recordApp remembers that the agent got a resource. It is an app if the URI is one of a UI resource.
func (b *backend) recordApp(connector *agentview.ConnectorView, uri string) {
	if strings.HasPrefix(uri, agentview.UIScheme) {
		b.h.appReads.Put(b.newAppRead(connector), appKnown{isRead: true})
	}
}

// hasApp reports whether the agent read a UI resource of the connector. The history knows of reads in other processes.
func (b *backend) hasApp(ctx context.Context, connector *agentview.ConnectorView) (bool, error) {
	key, now := b.newAppRead(connector), b.h.now()
	known := b.h.appReads.Get(key)
	if known.isRead || now.Before(known.unreadTill) {
		return known.isRead, nil
	}
	calls := b.h.store.Tenant(b.view.Tenant.ID).Calls()
	for i, uri := range connector.UILinks() {
		if i == maxAppQueries {
			break
		}
		list, err := calls.List(ctx, store.CallFilter{
			Agent: &key.agent, Connector: &key.connector, Status: connectors.CallSuccess, Tool: uri, From: now.Add(-appReadWindow), Page: store.Page{Limit: maxAppRows},
		})
		if err != nil {
			return false, err
		}
		isOfAccount := func(c connectors.ToolCall) bool {
			return key.account == "" || c.CredentialID != nil && *c.CredentialID == connector.Account
		}
		if known.isRead = slices.ContainsFunc(list.Items, isOfAccount); known.isRead {
			break
		}
	}
	known.unreadTill = now.Add(appReadRetry)
	b.h.appReads.Put(key, known)
	return known.isRead, nil
}

// hasAppOfAny reports whether the agent read a UI resource of the connector with any of its accounts: an app does not say which one it is
// of.
func (b *backend) hasAppOfAny(ctx context.Context, connector *agentview.ConnectorView) (bool, error) {
	for _, other := range b.view.Connectors {
		if other.Connector.ID != connector.Connector.ID || b.connector != nil && other != connector {
			continue
		}
		if has, err := b.hasApp(ctx, other); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

// findAppTool returns the tool that an app calls by the server's own name; nil: there is none. The app is of a connector of
// which the agent has read a UI resource. If there are several, the call is refused, also where only one has the name: an app
// of another server must not reach its tools.
func (b *backend) findAppTool(ctx context.Context, name string) (*agentview.Tool, error) {
	among := b.view.Connectors
	if b.connector != nil {
		among = []*agentview.ConnectorView{b.connector}
	}
	named := func(connector *agentview.ConnectorView) *agentview.Tool {
		if t := connector.Tool(name); t != nil && t.BlockedBy != agentview.BlockedRemoved {
			return t
		}
		return nil
	}
	if !slices.ContainsFunc(among, func(connector *agentview.ConnectorView) bool { return named(connector) != nil }) {
		return nil, nil // without a look at the history
	}
	var found []*agentview.Tool
	withApps := 0
	for _, connector := range among {
		has, err := b.hasAppOfAny(ctx, connector)
		if err != nil {
			return nil, newRequestError(err, noPageURL)
		}
		if !has {
			continue
		}
		withApps++
		if t := named(connector); t != nil {
			found = append(found, t)
		}
	}
	switch {
	case len(found) == 0:
		return nil, nil
	case withApps > 1:
		return nil, newAmbiguousAppError(name, found)
	case found[0].Listed() && !found[0].ForApps():
		return nil, nil
	}
	return found[0], nil
}

// checkAppsOnly refuses a call of a tool for apps alone if the agent has read no UI resource of its server: the app is of another
// one. Of several servers with open apps, no request says of which the app is (MCP Apps 2026-01-26).
func (b *backend) checkAppsOnly(ctx context.Context, tool *agentview.Tool) error {
	if b.connector != nil || !tool.AppsOnly() {
		return nil
	}
	switch has, err := b.hasApp(ctx, tool.Connector); {
	case err != nil:
		return newRequestError(err, noPageURL)
	case !has:
		return serve.InvalidParams(fmt.Sprintf("The tool %q is for apps of its own server alone, and this agent has opened none.", truncateName(tool.Exposed)))
	}
	return nil
}

// newAmbiguousAppError names the tools that a call of an app may mean.
func newAmbiguousAppError(name string, tools []*agentview.Tool) error {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Exposed
	}
	return serve.InvalidParams(fmt.Sprintf("Apps of several connectors are open, so the tool %q is ambiguous. Call one of: %s.",
		truncateName(name), strings.Join(names, ", ")))
}

// uiMark and skillMark begin a JSON string with the URI of a UI resource and of a skill.
var uiMark, skillMark = []byte(`"ui:`), []byte(`"skill:`)

// resultPaths are where a result has URIs.
type resultPaths struct{ links, embedded []string }

var (
	toolResult = resultPaths{
		links:    []string{".content[].uri", "._meta.ui.resourceUri", "._meta.ui/resourceUri", "._meta.openai/outputTemplate"},
		embedded: []string{".content[].resource.uri"},
	}
	taskResult = resultPaths{
		links: []string{
			".result.content[].uri", ".result._meta.ui.resourceUri", ".result._meta.ui/resourceUri", ".result._meta.openai/outputTemplate",
		},
		embedded: []string{".result.content[].resource.uri"},
	}
	promptResult = resultPaths{links: []string{".messages[].content.uri"}, embedded: []string{".messages[].content.resource.uri"}}
)

// exposeApps returns a result of a connector's server with the exposed URIs of UI resources and skills in links, embedded resources
// and _meta. All other bytes stay. At a connector's own address, embedded resources are only recorded.
func (b *backend) exposeApps(connector *agentview.ConnectorView, raw json.RawMessage, paths ...resultPaths) json.RawMessage {
	if bytes.Contains(raw, skillMark) && b.connector == nil {
		return b.exposeURIs(connector, raw, paths...)
	}
	if !bytes.Contains(raw, uiMark) || b.connector != nil && b.h.appReads.Get(b.newAppRead(connector)).isRead {
		return raw
	}
	return b.exposeURIs(connector, raw, paths...)
}

func (b *backend) exposeURIs(connector *agentview.ConnectorView, raw json.RawMessage, paths ...resultPaths) json.RawMessage {
	link := func(own string) (string, bool) { return b.exposeApp(connector, own) }
	embedded := func(own string) (string, bool) {
		b.recordApp(connector, own)
		return b.exposeApp(connector, own)
	}
	edits := mcp.StringEdits{}
	for _, p := range paths {
		for _, path := range p.links {
			if b.connector == nil {
				edits[path] = link
			}
		}
		for _, path := range p.embedded {
			edits[path] = embedded
		}
	}
	exposed, err := mcp.EditStrings(raw, edits)
	if err != nil {
		return raw
	}
	return exposed
}

// exposeApp returns the exposed URI of a UI resource or of a skill. Other URIs stay, and all at a connector's own address.
func (b *backend) exposeApp(connector *agentview.ConnectorView, own string) (string, bool) {
	if b.connector != nil || !strings.HasPrefix(own, agentview.UIScheme) && !strings.HasPrefix(own, agentview.SkillScheme) {
		return "", false
	}
	return connector.Expose(own), true
}

// findListingConnector returns the only connector that has a resource, of several the only one with an app of the agent; nil:
// there is none.
func (b *backend) findListingConnector(ctx context.Context, uri string) *agentview.ConnectorView {
	var found []*agentview.ConnectorView
	for _, connector := range b.view.Connectors {
		if connector.HasResource(uri) {
			found = append(found, connector)
		}
	}
	if len(found) > 1 {
		found = slices.DeleteFunc(found, func(connector *agentview.ConnectorView) bool {
			has, err := b.hasAppOfAny(ctx, connector)
			return !has && err == nil // with an error, the URI stays ambiguous
		})
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}
