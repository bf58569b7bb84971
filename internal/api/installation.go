package api

import (
	"context"

	"patchbay/internal/auth"
)

// installationJSON is where this Patchbay is, and what others are told about it.
type installationJSON struct {
	Version     string `json:"version"`
	BaseURL     string `json:"base_url" format:"uri" doc:"Its public address."`
	CallbackURL string `json:"callback_url" format:"uri" doc:"The redirect URI that an authorization server is told, where a client is registered by hand."`
	GatewayURL  string `json:"gateway_url" format:"uri" doc:"Where agents speak MCP."`
}

func (h *Handler) getInstallation(context.Context, auth.Actor, *struct{}) (*answer[installationJSON], error) {
	return &answer[installationJSON]{Body: installationJSON{
		Version: h.version, BaseURL: h.baseURL, CallbackURL: h.connect.RedirectURI(), GatewayURL: h.baseURL + "/mcp",
	}}, nil
}
