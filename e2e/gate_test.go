//go:build e2e

package e2e_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"
)

// gate is where an agent comes to a running Patchbay.
type gate struct {
	base  string
	token string
}

// RoundTrip sends the agent's token with each request.
func (g gate) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+g.token)
	return localTransport.RoundTrip(r)
}

// toolboxToken is what a toolbox is told of its clients.
const toolboxToken = "upstream-token-1"

// admit makes a connector for each toolbox, by the name that it has in the map, and an agent that may use them all without asking.
func (c client) admit(boxes map[string]*toolbox) gate {
	c.t.Helper()
	for slug, box := range boxes {
		c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{
			"name": slug, "slug": slug, "url": box.url, "auth": object{"type": "bearer", "token": toolboxToken},
		})
		c.must(http.StatusOK, http.MethodPost, "/connectors/"+slug+"/sync_tools", nil)
	}
	robin := c.hire("robin", slices.Collect(maps.Keys(boxes))...)
	return gate{base: robin.base, token: robin.token}
}

// admin is a program that sets things up in a new installation.
func admin(t *testing.T) client {
	t.Helper()
	h := newHome(t)
	return client{t: t, base: h.serve().base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
}
