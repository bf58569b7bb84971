package registry

import (
	"errors"
	"maps"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
)

// checkEgress tells which of a draft's addresses the egress rules forbid. What is wrong already is left out, and what stands in
// old as it is.
func (r *Registry) checkEgress(d connectors.Draft, wrong []fault.Field, old connectors.Draft) []fault.Field {
	now, before := addresses(d), addresses(old)
	var fields []fault.Field
	for _, location := range slices.Sorted(maps.Keys(now)) {
		if now[location] == before[location] || hasLocation(wrong, location) {
			continue
		}
		if _, err := r.egress.CheckURL(now[location]); err != nil {
			fields = append(fields, fault.Field{Location: location, Message: egressSentence(err)})
		}
	}
	return fields
}

// addresses are all that a draft would have us, or somebody, sent to.
func addresses(d connectors.Draft) map[string]string {
	all := d.OAuth.Addresses()
	if d.Transport != connectors.TransportStdio {
		all["url"] = d.URL
	}
	return all
}

// egressSentence is what a person is told of a refused URL.
func egressSentence(err error) string {
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return blocked.Error()
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return "This is not a URL that Patchbay can connect to."
}
