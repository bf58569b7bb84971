package api

import (
	"context"

	"patchbay/internal/auth"
)

// installationJSON is the installation's public addresses.
type installationJSON struct {
	Version     string `json:"version"`
	BaseURL     string `json:"base_url" format:"uri" doc:"Public base URL."`
	CallbackURL string `json:"callback_url" format:"uri" doc:"Redirect URI for manually registered OAuth clients."`
	GatewayURL  string `json:"gateway_url" format:"uri" doc:"The MCP address for agents."`
}

func (h *Handler) getInstallation(context.Context, auth.Actor, *struct{}) (*response[installationJSON], error) {
	return &response[installationJSON]{Body: installationJSON{
		Version: h.version, BaseURL: h.baseURL, CallbackURL: h.connect.RedirectURI(), GatewayURL: h.baseURL + "/mcp",
	}}, nil
}
