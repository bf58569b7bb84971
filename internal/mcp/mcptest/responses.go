package mcptest

import (
	"fmt"
	"io"
	"net/http"
)

// Result returns a reply to the call with a raw result.
func Result(c Call, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.ID, result)
}

// Failure returns an error reply to the call.
func Failure(c Call, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, c.ID, code, message)
}

// Event returns one server-sent event.
func Event(data string) string { return "event: message\ndata: " + data + "\n\n" }

// Answer responds with body and a content type, with status 200.
func Answer(contentType string, body func(c Call) string) Handler {
	return func(w http.ResponseWriter, _ *http.Request, c Call) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body(c))
	}
}

// ListResult answers tools/list with one page of these entries.
func ListResult(tools string) Handler {
	return Answer("application/json", func(c Call) string { return Result(c, `{"tools":[`+tools+`]}`) })
}

// Status responds with a status, headers (alternating name and value) and a body.
func Status(status int, body string, header ...string) Handler {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Hang never responds; it returns when the client disconnects or the server stops.
func Hang(_ http.ResponseWriter, r *http.Request, _ Call) { <-r.Context().Done() }

// First handles the first n calls of a method with first and later ones with later.
func First(n int, first, later Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, c Call) {
		if c.N <= n {
			first(w, r, c)
			return
		}
		later(w, r, c)
	}
}
