package connectors

import (
	"net/http"
	"slices"

	"patchbay/internal/admin/shell"
	"patchbay/internal/clientconfig"
	"patchbay/internal/fault"
)

// connectorExport sends the connectors as an MCP client's configuration file, without secrets.
func (h *Handler) connectorExport(w http.ResponseWriter, r *http.Request) error {
	client := clientconfig.Generic
	if named := r.URL.Query().Get("client"); named != "" {
		client = clientconfig.Client(named)
	}
	if !slices.Contains(clientconfig.Clients, client) {
		return fault.Errorf(fault.NotFound, "No such client.")
	}
	file, err := h.Registry.Export(r.Context(), shell.Actor(r), client)
	if err != nil {
		return err
	}
	text, err := file.Text()
	if err != nil {
		return err
	}
	contentType := "application/json"
	if client == clientconfig.Codex {
		contentType = "application/toml"
	}
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+client.FileName()+`"`)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text) // a write error means that the browser is gone
	return nil
}
