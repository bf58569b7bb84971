package inprocess_test

import (
	"io"
	"net/http"
	"testing"

	"patchbay/internal/inprocess"
)

func TestRecorder_KeepsTheFirstStatus(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]http.HandlerFunc{
		"a body alone": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") },
		"two statuses": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "ok")
		},
	} {
		w := &inprocess.Recorder{}
		w.Header().Set("X-Name", "value")
		serve(w, nil)
		if w.Status != http.StatusOK || w.Body.String() != "ok" || w.Header().Get("X-Name") != "value" {
			t.Errorf("%s: %d %q %v", name, w.Status, w.Body.String(), w.Header())
		}
	}
}
