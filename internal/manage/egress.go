package manage

import (
	"errors"
	"maps"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safehttp"
)

// checkEgress reports the addresses that the egress rules forbid. It skips fields that are invalid already or
// unchanged.
func (r *Registry) checkEgress(d connectors.Draft, invalid []fault.Field, old connectors.Draft) []fault.Field {
	now, before := draftAddresses(d), draftAddresses(old)
	var fields []fault.Field
	for _, location := range slices.Sorted(maps.Keys(now)) {
		if now[location] == before[location] || hasLocation(invalid, location) {
			continue
		}
		if _, err := r.egress.CheckURL(now[location]); err != nil {
			fields = append(fields, fault.Field{Location: location, Message: egressSentence(err)})
		}
	}
	return fields
}

// draftAddresses returns all URLs of a draft that Patchbay or a person's browser would request.
func draftAddresses(d connectors.Draft) map[string]string {
	all := d.OAuth.Addresses()
	if d.Transport != connectors.TransportStdio {
		all["url"] = d.URL
	}
	if d.ServerURL != "" {
		all["server_url"] = d.ServerURL
	}
	return all
}

// egressSentence describes a refused URL.
func egressSentence(err error) string {
	if blocked, ok := errors.AsType[*safehttp.BlockedError](err); ok {
		return blocked.Error()
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message
	}
	return "Patchbay can't connect to this URL."
}
