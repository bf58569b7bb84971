package admin

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// auditSigned is the panel that offers the signed export; both files end at the same entry, however many are added meanwhile.
func auditSigned(ctx context.Context, t *store.Tenant, s store.AuditState) (templates.AuditSigned, error) {
	signer, err := t.AuditSigner()
	if err != nil {
		return templates.AuditSigned{}, err
	}
	until := "?until=" + strconv.FormatInt(s.Events, 10)
	panel := templates.AuditSigned{Key: []templates.Fact{{Label: words.T(ctx, "Public key"), Value: signer.PublicKey(), Mono: true, Copy: true}}}
	if s.Events > 0 {
		panel.Entries, panel.Signature = "/audit/export.jsonl"+until, "/audit/export.sig"+until
	}
	return panel, nil
}

// auditExport sends the log as JSON Lines, from its first entry to the place that the address names, and leaves an entry itself.
func (h *Handler) auditExport(w http.ResponseWriter, r *http.Request) error {
	until, err := h.auditUntil(r)
	if err != nil {
		return err
	}
	file := &fileBody{ResponseWriter: w, contentType: "application/jsonl", name: "audit.jsonl"}
	if r.Method == http.MethodHead {
		file.begin()
		return nil
	}
	if err := h.registry.TakeTable(r.Context(), actor(r), "audit", "jsonl", "until="+strconv.FormatInt(until, 10)); err != nil {
		return err
	}
	_, err = h.tenant(r).ExportAudit(r.Context(), file, until)
	if err == nil || !file.begun {
		return err
	}
	h.log.WarnContext(r.Context(), "audit log not exported to its end", "tenant_id", actor(r).Tenant.ID, "error", err)
	panic(http.ErrAbortHandler) // half of it must not look whole
}

// fileBody is a file from its first byte on: until then a failure is a page.
type fileBody struct {
	http.ResponseWriter
	contentType, name string
	begun             bool
}

func (f *fileBody) Write(b []byte) (int, error) {
	f.begin()
	return f.ResponseWriter.Write(b)
}

func (f *fileBody) begin() {
	if !f.begun {
		f.begun = true
		sendAs(f.ResponseWriter, f.contentType, f.name)
	}
}

// auditSignature sends the signature of the export to the same place.
func (h *Handler) auditSignature(w http.ResponseWriter, r *http.Request) error {
	until, err := h.auditUntil(r)
	if err != nil {
		return err
	}
	signature, err := h.tenant(r).ExportAudit(r.Context(), io.Discard, until)
	if err != nil {
		return err
	}
	sendAs(w, "text/plain; charset=utf-8", "audit.sig")
	_, err = w.Write([]byte(signature + "\n"))
	return err
}

// auditUntil is the last entry that an export is to have.
func (h *Handler) auditUntil(r *http.Request) (int64, error) {
	end, err := h.tenant(r).AuditEnd(r.Context())
	if err != nil {
		return 0, err
	}
	until, err := strconv.ParseInt(r.URL.Query().Get("until"), 10, 64)
	if err != nil || until < 1 || until > end {
		return 0, fault.Errorf(fault.NotFound, "The audit log has no such place. Take the export from its page.")
	}
	return until, nil
}

func sendAs(w http.ResponseWriter, contentType, name string) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	header.Set("Cache-Control", "no-store")
}
