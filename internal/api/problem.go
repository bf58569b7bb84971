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

// failure carries an error through huma, which would write it itself: [Handler.transform] replaces it by the
// problem document.
type failure struct{ err error }

// Error implements error.
func (f failure) Error() string { return f.err.Error() }

// Unwrap returns the carried error.
func (f failure) Unwrap() error { return f.err }

// GetStatus implements huma.StatusError.
func (f failure) GetStatus() int { return respond.Status(respond.Fault(f.err).Kind) }

// ContentType implements huma.ContentTypeFilter.
func (f failure) ContentType(string) string { return respond.ProblemMediaType }

// transform is huma's last step before a response is encoded.
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

// queryFault translates huma's own validation errors. Only query parameters have them: path parameters are
// text, and [requestBody] reads bodies. The value, which huma repeats, is dropped.
func queryFault(m *huma.ErrorModel) error {
	if m.Status != http.StatusUnprocessableEntity {
		return fmt.Errorf("huma answered %d: %s", m.Status, m.Detail)
	}
	fields := make([]fault.Field, 0, len(m.Errors))
	for _, e := range m.Errors {
		name := strings.TrimPrefix(e.Location, "query.")
		fields = append(fields, fault.Field{Location: name, Message: asSentence(name + ": " + e.Message)})
	}
	return fault.InvalidFields(fields...)
}

func asSentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:] + "."
}
