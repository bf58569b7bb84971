package gateway

import (
	"encoding/json"

	"patchbay/internal/agentview"
	"patchbay/internal/mcp"
)

// maxExtensions bounds the extensions at the address of all connectors, in bytes.
const maxExtensions = 64 << 10

// allExtensions returns the extensions of all servers of the agent. Settings of the same extension are merged. Extensions of
// servers beyond the bound are left out. Those of one server are bounded too, so that it cannot hide the others.
func allExtensions(v *agentview.View) map[string]json.RawMessage {
	all, size := map[string]json.RawMessage{}, 0
	for _, connector := range v.Connectors {
		declared, added := mcp.Extensions(connector.Capabilities, mcp.MaxServerExtensions), 0
		for name, settings := range declared {
			added += len(name) + len(settings)
		}
		if size+added > maxExtensions {
			continue
		}
		size += added
		for name, settings := range declared {
			if known, ok := all[name]; ok {
				settings = mergeSettings(known, settings)
			}
			all[name] = settings
		}
	}
	return all
}

// mergeSettings adds the members of the second object to the first. Arrays of the same name are joined; of other members with
// the same name, the first one stays.
func mergeSettings(first, second json.RawMessage) json.RawMessage {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(first, &a) != nil || json.Unmarshal(second, &b) != nil {
		return first
	}
	for name, value := range b {
		if known, ok := a[name]; ok {
			value = joinArrays(known, value)
		}
		a[name] = value
	}
	merged, err := encodeJSON(a)
	if err != nil {
		return first
	}
	return merged
}

// joinArrays returns the first array with the elements of the second that it lacks. Other values stay.
func joinArrays(first, second json.RawMessage) json.RawMessage {
	var a, b []json.RawMessage
	if json.Unmarshal(first, &a) != nil || json.Unmarshal(second, &b) != nil || a == nil {
		return first
	}
	seen := make(map[string]bool, len(a))
	for _, element := range a {
		seen[string(element)] = true // extensions have one form
	}
	for _, element := range b {
		if !seen[string(element)] {
			a = append(a, element)
		}
	}
	joined, err := encodeJSON(a)
	if err != nil {
		return first
	}
	return joined
}
