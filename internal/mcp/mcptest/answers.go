package mcptest

import (
	"fmt"
	"io"
	"net/http"
)

// Result is a JSON-RPC reply to the call with a result of raw JSON.
func Result(c Call, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, c.ID, result)
}

// Failure is a JSON-RPC error in reply to the call.
func Failure(c Call, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, c.ID, code, message)
}

// Event is one event of a stream with one line of data.
func Event(data string) string { return "event: message\ndata: " + data + "\n\n" }

// Answer sends what body returns, with status 200 and the content type.
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

// Status answers with a status, headers (name and value in turns) and a body.
func Status(status int, body string, header ...string) Handler {
	return func(w http.ResponseWriter, _ *http.Request, _ Call) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// Hang never answers; it returns when the client has left or the server stops.
func Hang(_ http.ResponseWriter, r *http.Request, _ Call) { <-r.Context().Done() }

// First answers the first n calls of a method with one handler and the later ones with another.
func First(n int, first, later Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, c Call) {
		if c.N <= n {
			first(w, r, c)
			return
		}
		later(w, r, c)
	}
}
