package connectors

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/clientconfig"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/manage"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/web"
	"patchbay/web/templates"
)

// connectorImportNew shows the import form.
func (h *Handler) connectorImportNew(w http.ResponseWriter, r *http.Request) error {
	return h.importPage(w, r, http.StatusOK, templates.Form{}, nil)
}

// connectorImportPreview shows what an import would do, and stores nothing. A script gets the preview alone, so
// that the pasted text stays on its page.
func (h *Handler) connectorImportPreview(w http.ResponseWriter, r *http.Request) error {
	table, _, field, err := h.importDocument(r, true)
	problem, ok := AsDocumentFault(r.Context(), err)
	scripted := r.Header.Get("HX-Request") != ""
	switch {
	case err != nil && !ok:
		return err
	case problem != nil && scripted:
		table = &templates.ImportTable{Title: problem.Message, Kind: templates.StateBad, Dry: true}
	case problem != nil:
		return h.renderImportError(w, r, field, problem)
	}
	if scripted {
		return h.Respond.Page(w, r, http.StatusOK, templates.ImportPreview(web.Asset, table))
	}
	return h.importPage(w, r, http.StatusOK, templates.Form{}, table)
}

// connectorImport imports a document, and reports the outcome for each server.
func (h *Handler) connectorImport(w http.ResponseWriter, r *http.Request) error {
	table, report, field, err := h.importDocument(r, false)
	if problem, ok := AsDocumentFault(r.Context(), err); ok {
		return h.renderImportError(w, r, field, problem)
	}
	if err != nil {
		return err
	}
	syncing, err := h.SyncImported(r, report)
	if err != nil {
		return err
	}
	return h.Respond.Page(w, r, http.StatusOK, templates.ConnectorImported(templates.ConnectorImportedPage{
		Frame: h.NewFrame(r, templates.NavConnectors, shell.NewCrumb(i18n.T(r.Context(), "Connectors"), "/connectors"), shell.NewCrumb(i18n.T(r.Context(), "Import connectors"), "")),
		Table: *table,
		Line:  SyncingLine(r.Context(), syncing),
	}))
}

// SyncingLine says how many imported connectors are being synced.
func SyncingLine(ctx context.Context, n int) string {
	if n == 0 {
		return i18n.T(ctx, "Result for each server.")
	}
	return i18n.N(ctx, n, "Syncing %s connector.", "Syncing %s connectors.")
}

func (h *Handler) importPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, preview *templates.ImportTable) error {
	return h.Respond.Page(w, r, status, templates.ConnectorImport(templates.ConnectorImportPage{
		Frame:   h.NewFrame(r, templates.NavConnectors, shell.NewCrumb(i18n.T(r.Context(), "Connectors"), "/connectors"), shell.NewCrumb(i18n.T(r.Context(), "Import connectors"), "")),
		Form:    f,
		Preview: preview,
	}))
}

// renderImportError shows the form again, with the error beside the document's field.
func (h *Handler) renderImportError(w http.ResponseWriter, r *http.Request, field string, problem *fault.Error) error {
	return h.importPage(w, r, respond.Status(problem.Kind), templates.Form{Errors: map[string]string{field: problem.Message}}, nil)
}

// importDocument imports the form's document. It also returns the field that held it.
func (h *Handler) importDocument(r *http.Request, dry bool) (table *templates.ImportTable, report manage.ImportReport, field string, err error) {
	document, field, err := ReadDocument(r)
	if err != nil {
		return nil, report, field, err
	}
	report, err = h.Registry.Import(r.Context(), shell.Actor(r), document, manage.ImportOptions{Dry: dry, ConfirmMoves: r.PostFormValue("confirm") == "true"})
	if err != nil {
		return nil, report, field, err
	}
	return ImportTable(r.Context(), report), report, field, nil
}

// ParseUpload parses a form that may have a file.
func ParseUpload(r *http.Request) error { return parseUpload(r, middleware.MaxBody) }

func parseUpload(r *http.Request, limit int64) error {
	// The limit is that of the body, so that all of it stays in memory: on disk, secrets would outlive the request.
	err := r.ParseMultipartForm(limit)
	if errors.Is(err, http.ErrNotMultipart) {
		err = nil
	}
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return err
		}
		return fault.Wrap(fault.Malformed, err, "Can't read this form.")
	}
	return nil
}

// ReadDocument reads the pasted text or the chosen file.
func ReadDocument(r *http.Request) (document []byte, field string, err error) {
	if err := ParseUpload(r); err != nil {
		return nil, "", err
	}
	pasted := []byte(r.PostFormValue("document"))
	chosen, err := chosenFile(r, clientconfig.MaxBytes)
	switch hasText := len(bytes.TrimSpace(pasted)) > 0; {
	case err != nil:
		return nil, "file", err
	case hasText && len(chosen) > 0:
		return nil, "file", fault.Errorf(fault.Invalid, "Paste or choose a file, not both.")
	case hasText:
		return pasted, "document", nil
	case len(chosen) > 0:
		return chosen, "file", nil
	default:
		return nil, "document", fault.Errorf(fault.Invalid, "Paste or choose a file.")
	}
}

// chosenFile reads the file, up to one byte past the limit; nil if none was chosen.
func chosenFile(r *http.Request, limit int64) ([]byte, error) {
	if r.MultipartForm == nil {
		return nil, nil
	}
	file, _, err := r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "Can't read this file.")
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, limit+1))
}

// AsDocumentFault returns a fault about the document. Other errors are the handler's to return.
func AsDocumentFault(ctx context.Context, err error) (*fault.Error, bool) {
	if err == nil {
		return nil, false
	}
	f := respond.LocalizedFault(ctx, err)
	return f, f.Kind == fault.Invalid || f.Kind == fault.Malformed || f.Kind == fault.TooLarge
}
