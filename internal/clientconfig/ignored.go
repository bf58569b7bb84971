package clientconfig

import (
	"fmt"
	"slices"
	"strings"
)

// harmless fields are for people and editors alone, or say what other fields say.
var harmless = []string{"comment", "_comment", "//", "note", "notes", "$schema", "icon", "iconUrl", "logo", "gallery", "source", "id", "key", "version"}

// ignoredFields are fields of clients that have a counterpart elsewhere in Patchbay, with what to do.
var ignoredFields = []struct {
	names  []string
	advice string
}{
	{
		[]string{"tools", "includeTools", "excludeTools", "disabledTools", "disabled_tools", "enabledTools", "enabled_tools", "allowedTools", "include_tools", "exclude_tools"},
		"Tool selection (%s) ignored: choose tools when granting access.",
	},
	{
		[]string{"autoApprove", "alwaysAllow", "auto_approve", "autoApproveTools", "trust", "default_tools_approval_mode", "approval_mode"},
		"Approval (%s) ignored: set it when granting access.",
	},
	{
		[]string{"envFile", "env_file"},
		"File variables (%s) ignored: Patchbay doesn't read that file. Set them.",
	},
}

// maxIgnored is the most names in a notice.
const maxIgnored = 8

// tellIgnored adds a notice for the fields that were not read.
func (r *serverReader) tellIgnored() {
	rest := slices.DeleteFunc(slices.Sorted(slices.Values(r.ignored)), func(name string) bool { return slices.Contains(harmless, name) })
	for _, known := range ignoredFields {
		isKnown := func(name string) bool { return slices.Contains(known.names, name) }
		var found []string
		for _, name := range rest {
			if isKnown(name) {
				found = append(found, name)
			}
		}
		if len(found) > 0 {
			r.addNotice(fmt.Sprintf(known.advice, joinNames(found)))
		}
		rest = slices.DeleteFunc(rest, isKnown)
	}
	if len(rest) > 0 {
		r.addNotice("Unsupported and left out: " + joinNames(rest) + ".")
	}
}

// isAllTools reports whether a field chooses all tools.
func isAllTools(name string, n node) bool {
	choice, ok := n.stringList()
	return ok && name == "tools" && slices.Equal(choice, []string{"*"})
}

// joinNames joins names of fields. A name that could be a secret is not repeated.
func joinNames(names []string) string {
	var shown []string
	for _, name := range names {
		if !plainName.MatchString(name) {
			name = "a field with an unusual name"
		}
		if !slices.Contains(shown, name) {
			shown = append(shown, name)
		}
	}
	if more := len(shown) - maxIgnored; more > 0 {
		shown = append(shown[:maxIgnored], fmt.Sprintf("%d more", more))
	}
	return strings.Join(shown, ", ")
}
