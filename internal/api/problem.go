package api

import (
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"patchbay/internal/fault"
	"patchbay/internal/respond"
)

// failure carries an error of ours through huma, which writes it as it writes any answer: [Handler.transform] puts the
// problem document in its place.
type failure struct{ err error }

// Error implements error.
func (f failure) Error() string { return f.err.Error() }

// Unwrap returns the error that is carried.
func (f failure) Unwrap() error { return f.err }

// GetStatus implements huma.StatusError.
func (f failure) GetStatus() int { return respond.Status(respond.Fault(f.err).Kind) }

// ContentType implements huma.ContentTypeFilter.
func (f failure) ContentType(string) string { return respond.ProblemMediaType }

// transform is huma's last step before an answer is encoded.
func (h *Handler) transform(ctx huma.Context, _ string, v any) (any, error) {
	r, w := humachi.Unwrap(ctx)
	switch v := v.(type) {
	case failure:
		return h.respond.Prepare(w.Header(), r, v.err), nil
	case *huma.ErrorModel:
		return h.respond.Prepare(w.Header(), r, queryFault(v)), nil
	}
	return v, nil
}

// queryFault translates huma's own refusal, which only a query parameter can meet: paths are text, and bodies are read by
// [document]. The offending value, which huma repeats, is left behind.
func queryFault(m *huma.ErrorModel) error {
	if m.Status != http.StatusUnprocessableEntity {
		return fmt.Errorf("huma answered %d: %s", m.Status, m.Detail)
	}
	fields := make([]fault.Field, 0, len(m.Errors))
	for _, e := range m.Errors {
		name := strings.TrimPrefix(e.Location, "query.")
		fields = append(fields, fault.Field{Location: name, Message: sentence(name + ": " + e.Message)})
	}
	return fault.InvalidFields(fields...)
}

func sentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:] + "."
}
