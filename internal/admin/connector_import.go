package admin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"patchbay/internal/fault"
	"patchbay/internal/mcpjson"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/words"
	"patchbay/web"
	"patchbay/web/templates"
)

// connectorImportNew asks for a document of MCP servers.
func (h *Handler) connectorImportNew(w http.ResponseWriter, r *http.Request) error {
	return h.importPage(w, r, http.StatusOK, templates.Form{}, nil)
}

// connectorImportPreview says what an import would do, and stores nothing. Where a script asks, it says that alone, and what was
// pasted stays in the browser's page; without script the form comes back empty.
func (h *Handler) connectorImportPreview(w http.ResponseWriter, r *http.Request) error {
	table, at, err := h.importDocument(r, true)
	problem, ok := unreadable(r.Context(), err)
	scripted := r.Header.Get("HX-Request") != ""
	switch {
	case err != nil && !ok:
		return err
	case problem != nil && scripted:
		table = &templates.ImportTable{Title: problem.Message, Kind: templates.StateBad, Dry: true}
	case problem != nil:
		return h.importRefused(w, r, at, problem)
	}
	if scripted {
		return h.respond.Page(w, r, http.StatusOK, templates.ImportPreview(web.Asset, table))
	}
	return h.importPage(w, r, http.StatusOK, templates.Form{}, table)
}

// connectorImport imports a document and tells what became of each server.
func (h *Handler) connectorImport(w http.ResponseWriter, r *http.Request) error {
	table, at, err := h.importDocument(r, false)
	if problem, ok := unreadable(r.Context(), err); ok {
		return h.importRefused(w, r, at, problem)
	}
	if err != nil {
		return err
	}
	return h.respond.Page(w, r, http.StatusOK, templates.ConnectorImported(templates.ConnectorImportedPage{
		Frame: h.frame(r, templates.NavConnectors, crumb(words.T(r.Context(), "Connectors"), "/connectors"), crumb(words.T(r.Context(), "Import connectors"), "")),
		Table: *table,
	}))
}

func (h *Handler) importPage(w http.ResponseWriter, r *http.Request, status int, f templates.Form, preview *templates.ImportTable) error {
	return h.respond.Page(w, r, status, templates.ConnectorImport(templates.ConnectorImportPage{
		Frame:   h.frame(r, templates.NavConnectors, crumb(words.T(r.Context(), "Connectors"), "/connectors"), crumb(words.T(r.Context(), "Import connectors"), "")),
		Form:    f,
		Preview: preview,
	}))
}

// importRefused asks again, with what is wrong beside the field that the document came from.
func (h *Handler) importRefused(w http.ResponseWriter, r *http.Request, at string, problem *fault.Error) error {
	return h.importPage(w, r, respond.Status(problem.Kind), templates.Form{Errors: map[string]string{at: problem.Message}}, nil)
}

// importDocument imports what the form holds. at is the field where it stands.
func (h *Handler) importDocument(r *http.Request, dry bool) (table *templates.ImportTable, at string, err error) {
	document, at, err := readDocument(r)
	if err != nil {
		return nil, at, err
	}
	report, err := h.registry.Import(r.Context(), actor(r), document, dry)
	if err != nil {
		return nil, at, err
	}
	return importTable(r.Context(), report), at, nil
}

// parseUpload reads a form that may bring a file.
func parseUpload(r *http.Request) error {
	// A body has at most MaxBody, so that the whole of it fits into memory: on a disk, secrets would outlive the request.
	err := r.ParseMultipartForm(middleware.MaxBody)
	if errors.Is(err, http.ErrNotMultipart) {
		err = nil
	}
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return err
		}
		return fault.Wrap(fault.Malformed, err, "This form cannot be read.")
	}
	return nil
}

// readDocument reads the document that was pasted or chosen.
func readDocument(r *http.Request) (document []byte, at string, err error) {
	if err := parseUpload(r); err != nil {
		return nil, "", err
	}
	pasted := []byte(r.PostFormValue("document"))
	chosen, err := chosenFile(r)
	switch hasText := len(bytes.TrimSpace(pasted)) > 0; {
	case err != nil:
		return nil, "file", err
	case hasText && len(chosen) > 0:
		return nil, "file", fault.Errorf(fault.Invalid, "Paste a document or choose a file, not both.")
	case hasText:
		return pasted, "document", nil
	case len(chosen) > 0:
		return chosen, "file", nil
	default:
		return nil, "document", fault.Errorf(fault.Invalid, "Paste a document, or choose a file.")
	}
}

// chosenFile is the content of the file, or one byte more than it may have; nothing where none was chosen.
func chosenFile(r *http.Request) ([]byte, error) {
	if r.MultipartForm == nil {
		return nil, nil
	}
	file, _, err := r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "This file cannot be read.")
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, mcpjson.MaxBytes+1))
}

// unreadable returns the fault that is about the document; other errors are the handler's to return.
func unreadable(ctx context.Context, err error) (*fault.Error, bool) {
	if err == nil {
		return nil, false
	}
	f := respond.Told(ctx, err)
	return f, f.Kind == fault.Invalid || f.Kind == fault.Malformed || f.Kind == fault.TooLarge
}
