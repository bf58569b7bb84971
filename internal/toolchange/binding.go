package toolchange

import (
	"encoding/json"
	"fmt"
)

// BindingMember is the member of a stored definition that says which HTTP request a call makes. Only Patchbay writes and
// reads it: agents never see it.
const BindingMember = "patchbay/http"

// compareBindings reports what changed in the HTTP request of a tool. Another address is high risk: arguments and the
// credential go there.
func (c *comparison) compareBindings(before, now any) {
	old, wasObject := before.(map[string]any)
	next, isObject := now.(map[string]any)
	if !wasObject || !isObject {
		c.add(Difference{Path: "request", Kind: Other, Sentence: "The tool's HTTP request was added or removed."})
		return
	}
	for _, name := range c.work.memberNames(old, next) {
		a, hadBefore := old[name]
		b, hasNow := next[name]
		if hadBefore == hasNow && c.work.equalValues(a, b) {
			continue
		}
		d := Difference{Path: "request." + truncateText(name), Before: c.shortJSON(a, hadBefore), After: c.shortJSON(b, hasNow)}
		switch name {
		case "server":
			d.Kind, d.Sentence = EndpointChanged, "Calls go to another address."
		case "method", "path":
			d.Kind, d.Sentence = EndpointChanged, fmt.Sprintf("The request's %s changed.", name)
		case "security":
			d.Kind, d.Sentence = RequestChanged, "The API now requires a different credential or different scopes."
		default:
			d.Kind, d.Sentence = RequestChanged, fmt.Sprintf("The request changed: %s.", truncateText(name))
		}
		c.add(d)
	}
}

// RequestServer returns the address that a tool's HTTP requests go to; empty: it has none.
func RequestServer(definition []byte) string {
	var found struct {
		Request struct {
			Server string `json:"server"`
		} `json:"patchbay/http"`
	}
	_ = json.Unmarshal(definition, &found) // what is no definition has no address
	return found.Request.Server
}

// checkServer reports a new tool that sends its arguments to a foreign address.
func (c *comparison) checkServer() {
	if c.isForeign == nil {
		return
	}
	request, _ := c.now[BindingMember].(map[string]any)
	if server, _ := request["server"].(string); c.isForeign(server) {
		c.add(Difference{Path: "request.server", Kind: EndpointChanged, After: c.shortJSON(server, true),
			Sentence: "Calls go to a host that no accepted tool of this connector uses."})
	}
}
