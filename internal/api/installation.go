package api

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/credentials"
)

// installationJSON is the installation's public addresses.
type installationJSON struct {
	Version     string `json:"version"`
	BaseURL     string `json:"base_url" format:"uri" doc:"Public base URL."`
	CallbackURL string `json:"callback_url" format:"uri" doc:"Redirect URI for manually registered OAuth clients."`
	GatewayURL  string `json:"gateway_url" format:"uri" doc:"The MCP address for agents."`
	TokenIssuer string `json:"token_issuer" format:"uri" doc:"Your organisation's issuer, which authorization servers trust for token exchange. Its documents exist while a connector uses it."`
}

func (h *Handler) getInstallation(_ context.Context, a auth.Actor, _ *struct{}) (*response[installationJSON], error) {
	return &response[installationJSON]{Body: installationJSON{
		Version: h.version, BaseURL: h.baseURL, CallbackURL: h.connect.RedirectURI(), GatewayURL: h.baseURL + "/mcp",
		TokenIssuer: h.baseURL + credentials.IssuersPath + a.Tenant.ID.String(),
	}}, nil
}
