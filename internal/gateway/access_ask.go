package gateway

import (
	"fmt"
	"net/url"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/serve"
	"patchbay/internal/toolcall"
)

// Refusals name the page where a signed-in person asks for access. Its URL has only what the agent sent or knows already, and
// the agent's id. So a tool or connector that exists without a grant is answered like one that does not.

// maxAskedName bounds a name in the URL, the longest exposed one.
const maxAskedName = 128

// askURL returns the page for the access that a refusal names; empty: none.
func (b *backend) askURL(r *toolcall.RefusalError) string {
	return r.AskURL(b.h.base, b.view.Agent.ID)
}

func (b *backend) askPage(query url.Values) string {
	return toolcall.AskURL(b.h.base, b.view.Agent.ID, query)
}

// newUnknownToolError is the error for a name of no tool of this address. The page finds the tool by its name, if there is one.
func (b *backend) newUnknownToolError(name string) error {
	text := fmt.Sprintf("No tool named %q.", truncateName(name))
	slug, ok := connectors.ExposedSlug(name)
	if ok && b.connector == nil && !b.view.HasConnector(slug) && len(name) <= maxAskedName {
		text += " If it needs access, a person can ask for it here: " + b.askPage(url.Values{"name": {name}})
	}
	return serve.InvalidParams(text)
}

// newUngrantedError is the error for the address of a connector without a grant, whether or not it exists.
func (b *backend) newUngrantedError(slug string) error {
	var addresses []string
	for _, connector := range b.view.Connectors {
		if connector.Connector.Slug == slug && connector.ChosenAccount() != "" && !connector.PermitsNothing() {
			addresses = append(addresses, b.h.base+mcpPath+"/"+connector.Slug)
		}
	}
	if len(addresses) > 0 {
		return fault.Errorf(fault.NotFound, "This agent has several accounts of this connector. Use one of: %s.", strings.Join(addresses, ", "))
	}
	slug, ok := connectors.CutViewSlug(slug)
	if !ok {
		return fault.Errorf(fault.NotFound, "This agent has no access to this connector. An admin can grant or enable it.")
	}
	return fault.Errorf(fault.NotFound, "This agent has no access to this connector. An admin can grant or enable it. A person can ask for access here: %s",
		b.askPage(url.Values{"connector": {slug}}))
}
