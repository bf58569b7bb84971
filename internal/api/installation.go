package api

import (
	"context"

	"patchbay/internal/auth"
)

// installationJSON is the installation's public addresses.
type installationJSON struct {
	Version     string `json:"version"`
	BaseURL     string `json:"base_url" format:"uri" doc:"Its public address."`
	CallbackURL string `json:"callback_url" format:"uri" doc:"The redirect URI that an authorization server is told, where a client is registered by hand."`
	GatewayURL  string `json:"gateway_url" format:"uri" doc:"Where agents speak MCP."`
}

func (h *Handler) getInstallation(context.Context, auth.Actor, *struct{}) (*response[installationJSON], error) {
	return &response[installationJSON]{Body: installationJSON{
		Version: h.version, BaseURL: h.baseURL, CallbackURL: h.connect.RedirectURI(), GatewayURL: h.baseURL + "/mcp",
	}}, nil
}
