package serve

import (
	"encoding/json"

	"patchbay/internal/mcp/wire"
)

// Filter is what a listener wants to hear of, cut to what the capabilities of the Description promise.
type Filter struct {
	Peer      *Peer
	Tools     bool     // notifications/tools/list_changed
	Prompts   bool     // notifications/prompts/list_changed
	Resources bool     // notifications/resources/list_changed
	URIs      []string // notifications/resources/updated of these; a peer of the handshake era names none here, it subscribes
}

// What bounds the resources that a listener hears of: each is a subscription at a server, which gets its URI, and stands in memory as long as
// the listener. The client is told which they are.
const (
	mostURIs   = 500
	longestURI = 8 << 10
	mostOfURIs = 64 << 10 // bytes of all
)

// bounded are the URIs that are listened to, of those that are wanted.
func bounded(wanted []string) (uris []string) {
	size := 0
	for _, uri := range wanted {
		if len(uris) == mostURIs || size+len(uri) > mostOfURIs {
			break
		}
		if len(uri) <= longestURI {
			uris, size = append(uris, uri), size+len(uri)
		}
	}
	return uris
}

var everyList = []byte(`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`)

// promised is what of the wanted notifications the capabilities promise.
func promised(capabilities, wanted []byte) (f Filter) {
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
	// What cannot be read is not wanted, or not promised.
	_ = json.Unmarshal(wanted, &want)
	_ = json.Unmarshal(capabilities, &can)
	f.Tools = want.ToolsListChanged && can.Tools.ListChanged
	f.Prompts = want.PromptsListChanged && can.Prompts.ListChanged
	f.Resources = want.ResourcesListChanged && can.Resources.ListChanged
	if can.Resources.Subscribe {
		f.URIs = bounded(want.ResourceSubscriptions)
	}
	return f
}

// acknowledged is the filter as the client gets to read it.
func (f Filter) acknowledged() []byte {
	told := struct {
		Tools     bool     `json:"toolsListChanged,omitempty"`
		Prompts   bool     `json:"promptsListChanged,omitempty"`
		Resources bool     `json:"resourcesListChanged,omitempty"`
		URIs      []string `json:"resourceSubscriptions,omitempty"`
	}{f.Tools, f.Prompts, f.Resources, f.URIs}
	raw, _ := json.Marshal(told) // always marshals
	return wire.Object([]wire.Member{{Name: "notifications", Value: raw}})
}

const (
	toolsChanged     = "notifications/tools/list_changed"
	promptsChanged   = "notifications/prompts/list_changed"
	resourcesChanged = "notifications/resources/list_changed"
	resourceUpdated  = "notifications/resources/updated"
)

// methods are the notifications of changed lists that pass the filter.
func (f Filter) methods() []string {
	var methods []string
	for _, method := range []string{toolsChanged, promptsChanged, resourcesChanged} {
		if f.passes(method) {
			methods = append(methods, method)
		}
	}
	return methods
}

// passes tells whether a listener is to hear of a notification.
func (f Filter) passes(method string) bool {
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
