package catalog

import (
	"net/http"
	"strings"

	connectorpages "patchbay/internal/admin/connectors"
	"patchbay/internal/admin/shell"
	"patchbay/internal/clientconfig"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// listingNew shows the form for an MCP registry's address.
func (h *Handler) listingNew(w http.ResponseWriter, r *http.Request) error {
	return h.listingPage(w, r, http.StatusOK, templates.Form{}, nil)
}

// listingPreview shows the servers of a registry, and stores nothing.
func (h *Handler) listingPreview(w http.ResponseWriter, r *http.Request) error {
	document, field, complete, err := h.listingDocument(r)
	var report manage.ImportReport
	if err == nil {
		report, err = h.Registry.Import(r.Context(), shell.Actor(r), document, manage.ImportOptions{Dry: true})
	}
	if err == nil && len(report.Entries) > 0 && !report.Entries[0].Listed {
		err = fault.Errorf(fault.Invalid, "This isn't an MCP registry list. Import client files under Connectors.")
	}
	form := templates.Form{Values: map[string]string{"url": r.PostFormValue("url"), "search": r.PostFormValue("search")}}
	if problem, ok := connectorpages.AsDocumentFault(r.Context(), err); ok {
		form.Errors = map[string]string{field: problem.Message}
		return h.listingPage(w, r, respond.Status(problem.Kind), form, nil)
	}
	if err != nil {
		return err
	}
	return h.listingPage(w, r, http.StatusOK, form, listingPreview(r.Context(), report, complete))
}

// registryImport adds the chosen servers. Each comes back in the value of its checkbox, and is checked as any
// import: it is input of the browser.
func (h *Handler) registryImport(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	chosen := f.Values["chosen"]
	if len(chosen) == 0 {
		return h.listingPage(w, r, http.StatusUnprocessableEntity, templates.Form{Problem: i18n.T(r.Context(), "No server selected. List them again.")}, nil)
	}
	report, err := h.Registry.Import(r.Context(), shell.Actor(r), []byte("["+strings.Join(chosen, ",")+"]"), manage.ImportOptions{})
	if problem, ok := connectorpages.AsDocumentFault(r.Context(), err); ok {
		return h.listingPage(w, r, respond.Status(problem.Kind), templates.Form{Problem: problem.Message}, nil)
	}
	if err != nil {
		return err
	}
	syncing, err := h.ConnectorPages.SyncImported(r, report)
	if err != nil {
		return err
	}
	table := connectorpages.ImportTable(r.Context(), report)
	for i := range table.Rows {
		table.Rows[i].Line = "" // the preview had no line numbers
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorImported(templates.ConnectorImportedPage{
		Frame: h.NewFrame(r, templates.NavConnectors, shell.NewCrumb(i18n.T(r.Context(), "Connectors"), "/connectors"), shell.NewCrumb(i18n.T(r.Context(), "Catalog"), "/catalog"), shell.NewCrumb(i18n.T(r.Context(), "Import from registry"), "")),
		Table: *table,
		Line:  connectorpages.SyncingLine(r.Context(), syncing),
	}))
}

func (h *Handler) listingPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, preview *templates.ListingPreview) error {
	page := templates.ListingPage{
		Frame:   h.NewFrame(r, templates.NavConnectors, shell.NewCrumb(i18n.T(r.Context(), "Connectors"), "/connectors"), shell.NewCrumb(i18n.T(r.Context(), "Catalog"), "/catalog"), shell.NewCrumb(i18n.T(r.Context(), "Import from registry"), "")),
		Form:    f,
		Preview: preview,
	}
	return h.Respond.Page(w, r, status, templates.Listing(page))
}

// listingDocument returns the list that the form names or holds, the field it came from, and whether it is
// complete.
func (h *Handler) listingDocument(r *http.Request) (document []byte, field string, complete bool, err error) {
	if err := connectorpages.ParseUpload(r); err != nil {
		return nil, "", false, err
	}
	if address := strings.TrimSpace(r.PostFormValue("url")); address != "" {
		list, err := h.ServerLists.Read(r.Context(), address, r.PostFormValue("search"))
		return list.Document, "url", list.Whole, err
	}
	document, field, err = connectorpages.ReadDocument(r)
	if err != nil {
		return nil, field, false, err
	}
	_, next, _ := clientconfig.ReadPage(document) // a document that is no list fails when it is imported
	return document, field, next == "", nil
}
