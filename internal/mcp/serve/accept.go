package serve

import (
	"net/http"
	"strings"
)

// parseAccept reports which media types the client accepts. Without an Accept header it accepts JSON: it may be
// any program.
func parseAccept(h http.Header) (json, stream bool) {
	values := h["Accept"]
	if len(values) == 1 && values[0] == "application/json, text/event-stream" {
		return true, true
	}
	if len(values) == 0 {
		return true, false
	}
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			kind, parameters, _ := strings.Cut(part, ";")
			if hasZeroWeight(parameters) {
				continue
			}
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "*/*":
				json, stream = true, true
			case "application/json", "application/*":
				json = true
			case "text/event-stream", "text/*":
				stream = true
			}
		}
	}
	return json, stream
}

// hasZeroWeight reports whether a media range has the weight 0 (RFC 9110 section 12.4.2).
func hasZeroWeight(parameters string) bool {
	weight, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameters)), "q=")
	return ok && strings.Trim(weight, "0.") == ""
}

// isJSON reports whether the Content-Type is JSON. The charset is ignored: the body is read as UTF-8.
func isJSON(h http.Header) bool {
	value := h.Get("Content-Type")
	if value == "application/json" {
		return true
	}
	kind, _, _ := strings.Cut(value, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}
