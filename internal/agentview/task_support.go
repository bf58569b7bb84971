package agentview

import (
	"bytes"
	"encoding/json"
	"slices"
)

// readTaskSupport returns the taskSupport of a definition's execution object; empty: none.
func readTaskSupport(execution []byte) string {
	var read struct{ TaskSupport string }
	if json.Unmarshal(execution, &read) != nil {
		return ""
	}
	return read.TaskSupport
}

// withTaskSupport returns a definition with this execution.taskSupport; empty: without one. Every other byte stays.
func withTaskSupport(raw []byte, support string) []byte {
	var executions []byteRange
	forEachMember(raw, func(name string, value byteRange) {
		isObject := name == "execution" && raw[value.start] == '{'
		if isObject && (support != "" || bytes.Contains(raw[value.start:value.end], []byte("taskSupport"))) {
			executions = append(executions, value)
		}
	})
	if len(executions) == 0 {
		if support == "" {
			return raw
		}
		brace := bytes.IndexByte(raw, '{') + 1 // a definition has a name, so another member follows
		return slices.Insert(bytes.Clone(raw), brace, []byte(`"execution":{"taskSupport":"`+support+`"},`)...)
	}
	out, pos := make([]byte, 0, len(raw)+32), 0
	for _, execution := range executions {
		out = append(append(out, raw[pos:execution.start]...), replaceTaskSupport(raw[execution.start:execution.end], support)...)
		pos = execution.end
	}
	return append(out, raw[pos:]...)
}

// replaceTaskSupport returns an execution object with this taskSupport; empty: without one.
func replaceTaskSupport(execution []byte, support string) []byte {
	out, found := []byte{'{'}, false
	add := func(name string, value []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quoteJSON(name)...), ':'), value...)
	}
	forEachMember(execution, func(name string, value byteRange) {
		switch {
		case name != "taskSupport":
			add(name, execution[value.start:value.end])
		case support != "" && !found:
			found = true
			add(name, quoteJSON(support))
		}
	})
	if support != "" && !found {
		add("taskSupport", quoteJSON(support))
	}
	return append(out, '}')
}
