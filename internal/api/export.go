package api

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
)

type exportInput struct {
	Client string `query:"client" enum:"generic,claude,cursor,vscode,windsurf,gemini,zed,codex" default:"generic" doc:"File format, by client. Import accepts all of generic."`
}

func (h *Handler) mountExport() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/export", id: "exportConnectors", tag: "Import and export",
		summary: "Export connectors as a client's file, without secrets", permission: connectors.PermRead,
		description: "Secrets are placeholders in the client's syntax. Client files omit disabled connectors and servers that the client cannot connect to. For codex, toml holds the file.",
	}, h.exportConnectors)
}

func (h *Handler) exportConnectors(ctx context.Context, actor auth.Actor, in *exportInput) (*response[clientconfig.File], error) {
	file, err := h.registry.Export(ctx, actor, clientconfig.Client(in.Client))
	if err != nil {
		return nil, err
	}
	return &response[clientconfig.File]{Body: file}, nil
}
