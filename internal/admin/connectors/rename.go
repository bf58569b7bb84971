package connectors

import (
	"net/http"
	"reflect"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
)

// onlyRenames reports whether the form changes a connector's name, slug and description at most.
func (h *Handler) onlyRenames(r *http.Request) (bool, error) {
	f, err := shell.ReadForm(r)
	if err != nil {
		return false, err
	}
	if f.HasSecrets() {
		return false, nil
	}
	before, err := h.TenantStore(r).Connectors().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return false, err
	}
	old := connectors.DraftOf(before)
	d, err := readDraft(r.Context(), f, old)
	if err != nil {
		return false, nil //nolint:nilerr // the action itself shows what is wrong
	}
	d.Name, d.Slug, d.Description = old.Name, old.Slug, old.Description
	return reflect.DeepEqual(withoutEmpty(d), withoutEmpty(old)), nil
}

// withoutEmpty makes empty lists equal to missing ones.
func withoutEmpty(d connectors.Draft) connectors.Draft {
	d = d.Normalized()
	if len(d.Headers) == 0 {
		d.Headers = nil
	}
	if len(d.Methods) == 0 {
		d.Methods = nil
	}
	return d
}
