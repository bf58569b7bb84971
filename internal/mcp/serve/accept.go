package serve

import (
	"net/http"
	"strings"
)

// accepted tells what a client takes. One that does not say takes JSON: it may be any program.
func accepted(h http.Header) (json, stream bool) {
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
			if refused(parameters) {
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

// refused tells whether a media range has the weight 0 (RFC 9110 §12.4.2).
func refused(parameters string) bool {
	weight, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameters)), "q=")
	return ok && strings.Trim(weight, "0.") == ""
}

// isJSON tells whether the body is said to be JSON, in whatever character set: it is read as UTF-8.
func isJSON(h http.Header) bool {
	value := h.Get("Content-Type")
	if value == "application/json" {
		return true
	}
	kind, _, _ := strings.Cut(value, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}
