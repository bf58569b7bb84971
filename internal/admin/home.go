package admin

import (
	"net/http"

	"patchbay/internal/respond"
)

// home is the list of connectors.
func (h *Handler) home(w http.ResponseWriter, r *http.Request) error {
	return respond.See(w, r, "/connectors")
}
