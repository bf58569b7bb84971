package serve

import (
	"encoding/json"

	"patchbay/internal/mcp/wire"
)

// Filter is what a listener is notified of: its request, limited to the capabilities of the Description.
type Filter struct {
	Peer      *Client
	Tools     bool     // notifications/tools/list_changed
	Prompts   bool     // notifications/prompts/list_changed
	Resources bool     // notifications/resources/list_changed
	URIs      []string // notifications/resources/updated of these; a peer of the handshake era subscribes by requests instead
}

// Bounds of the resources of one listener. Each is a subscription at an upstream server and stays in memory.
// The client learns from the acknowledgement which were accepted.
const (
	maxURIs      = 500
	maxURILength = 8 << 10
	maxURIBytes  = 64 << 10 // bytes of all together
)

func limitURIs(wanted []string) (uris []string) {
	size := 0
	for _, uri := range wanted {
		if len(uris) == maxURIs || size+len(uri) > maxURIBytes {
			break
		}
		if len(uri) <= maxURILength {
			uris, size = append(uris, uri), size+len(uri)
		}
	}
	return uris
}

var allListChanges = []byte(`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`)

// newFilter returns the requested notifications that the capabilities allow.
func newFilter(capabilities, wanted []byte) (f Filter) {
	var want struct {
		ToolsListChanged      bool
		PromptsListChanged    bool
		ResourcesListChanged  bool
		ResourceSubscriptions []string
	}
	var can struct {
		Tools     struct{ ListChanged bool }
		Prompts   struct{ ListChanged bool }
		Resources struct{ ListChanged, Subscribe bool }
	}
	// Unreadable JSON requests or allows nothing.
	_ = json.Unmarshal(wanted, &want)
	_ = json.Unmarshal(capabilities, &can)
	f.Tools = want.ToolsListChanged && can.Tools.ListChanged
	f.Prompts = want.PromptsListChanged && can.Prompts.ListChanged
	f.Resources = want.ResourcesListChanged && can.Resources.ListChanged
	if can.Resources.Subscribe {
		f.URIs = limitURIs(want.ResourceSubscriptions)
	}
	return f
}

// acknowledgedParams is the filter as params of notifications/subscriptions/acknowledged.
func (f Filter) acknowledgedParams() []byte {
	shown := struct {
		Tools     bool     `json:"toolsListChanged,omitempty"`
		Prompts   bool     `json:"promptsListChanged,omitempty"`
		Resources bool     `json:"resourcesListChanged,omitempty"`
		URIs      []string `json:"resourceSubscriptions,omitempty"`
	}{f.Tools, f.Prompts, f.Resources, f.URIs}
	raw, _ := json.Marshal(shown) // always marshals
	return wire.Object([]wire.Member{{Name: "notifications", Value: raw}})
}

const (
	toolsChanged     = "notifications/tools/list_changed"
	promptsChanged   = "notifications/prompts/list_changed"
	resourcesChanged = "notifications/resources/list_changed"
	resourceUpdated  = "notifications/resources/updated"
)

// listMethods returns the methods of the list notifications that pass the filter.
func (f Filter) listMethods() []string {
	var methods []string
	for _, method := range []string{toolsChanged, promptsChanged, resourcesChanged} {
		if f.allowsMethod(method) {
			methods = append(methods, method)
		}
	}
	return methods
}

// allowsMethod reports whether a notification passes the filter.
func (f Filter) allowsMethod(method string) bool {
	switch method {
	case toolsChanged:
		return f.Tools
	case promptsChanged:
		return f.Prompts
	case resourcesChanged:
		return f.Resources
	case resourceUpdated:
		return len(f.URIs) > 0 || !f.Peer.Modern
	}
	return !f.Peer.Modern
}
