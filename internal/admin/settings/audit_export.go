package settings

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"patchbay/internal/admin/shell"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// auditSigned offers the signed export. Log and signature end at the same entry, even if more are added between
// the downloads.
func auditSigned(ctx context.Context, t store.Audit, s store.AuditState) (templates.AuditSigned, error) {
	signer, err := t.Signer()
	if err != nil {
		return templates.AuditSigned{}, err
	}
	until := "?until=" + strconv.FormatInt(s.Events, 10)
	panel := templates.AuditSigned{Key: []templates.Fact{{Label: i18n.T(ctx, "Public key"), Value: signer.PublicKey(), Mono: true, Copy: true}}}
	if s.Events > 0 {
		panel.Entries, panel.Signature = "/audit/export.jsonl"+until, "/audit/export.sig"+until
	}
	return panel, nil
}

// auditExport sends the log as JSON Lines, from its first entry to the one in the query, and records an entry
// itself.
func (h *Handler) auditExport(w http.ResponseWriter, r *http.Request) error {
	until, err := h.readAuditUntil(r)
	if err != nil {
		return err
	}
	file := &download{ResponseWriter: w, contentType: "application/jsonl", name: "audit.jsonl"}
	if r.Method == http.MethodHead {
		file.writeHeader()
		return nil
	}
	if err := h.Registry.RecordTableExport(r.Context(), shell.Actor(r), "audit", "jsonl", "until="+strconv.FormatInt(until, 10)); err != nil {
		return err
	}
	_, err = h.TenantStore(r).Audit().Export(r.Context(), file, until)
	if err == nil || !file.started {
		return err
	}
	h.Log.WarnContext(r.Context(), "audit log export incomplete", "tenant_id", shell.Actor(r).Tenant.ID, "error", err)
	panic(http.ErrAbortHandler) // abort, so that a truncated log cannot look complete
}

// download is a file response. Its header is written with the first byte; until then a failure can be a page.
type download struct {
	http.ResponseWriter
	contentType, name string
	started           bool
}

func (d *download) Write(b []byte) (int, error) {
	d.writeHeader()
	return d.ResponseWriter.Write(b)
}

func (d *download) writeHeader() {
	if !d.started {
		d.started = true
		setDownloadHeaders(d.ResponseWriter, d.contentType, d.name)
	}
}

// auditSignature sends the signature of the export up to the same entry.
func (h *Handler) auditSignature(w http.ResponseWriter, r *http.Request) error {
	until, err := h.readAuditUntil(r)
	if err != nil {
		return err
	}
	signature, err := h.TenantStore(r).Audit().Export(r.Context(), io.Discard, until)
	if err != nil {
		return err
	}
	setDownloadHeaders(w, "text/plain; charset=utf-8", "audit.sig")
	_, err = w.Write([]byte(signature + "\n"))
	return err
}

// readAuditUntil reads the number of the export's last entry.
func (h *Handler) readAuditUntil(r *http.Request) (int64, error) {
	end, err := h.TenantStore(r).Audit().End(r.Context())
	if err != nil {
		return 0, err
	}
	until, err := strconv.ParseInt(r.URL.Query().Get("until"), 10, 64)
	if err != nil || until < 1 || until > end {
		return 0, fault.Errorf(fault.NotFound, "Invalid position. Export from the audit log page.")
	}
	return until, nil
}

func setDownloadHeaders(w http.ResponseWriter, contentType, name string) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	header.Set("Cache-Control", "no-store")
}
