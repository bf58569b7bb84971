package serve

import (
	"bytes"
	"slices"

	"patchbay/internal/mcp/wire"
)

// Complete is a result with the members that the modern era demands of it: resultType of every one, and of what may be cached how
// long and by whom. Those that are there stay, but that nothing is for everybody: what one caller sees is not what another does.
// A result that lacks nothing is returned as it is.
func Complete(method string, result []byte) []byte {
	result = private(method, result)
	lacks := lacking(method, result)
	if lacks == "" {
		return result
	}
	return appendResult(make([]byte, 0, len(result)+len(lacks)), lacks, result)
}

// cacheable are the methods whose results say how long they are good.
var cacheable = map[string]bool{
	"server/discover": true, "tools/list": true, "prompts/list": true, "resources/list": true, "resources/templates/list": true,
	"resources/read": true,
}

// lacking are the members that an object must get, to be put in front of its own: with a comma after each.
func lacking(method string, result []byte) string {
	kind, lacks := kindOf(result), ""
	if kind == "" {
		kind, lacks = "complete", `"resultType":"complete",`
	}
	if kind != "complete" || !cacheable[method] {
		return lacks
	}
	if lookup(result, "ttlMs") == nil {
		lacks += `"ttlMs":0,`
	}
	if lookup(result, "cacheScope") == nil {
		lacks += `"cacheScope":"private",`
	}
	return lacks
}

// kindOf is the result's type; empty: it does not say. It mostly stands at the one end or the other, so that a long result need not be
// read.
func kindOf(result []byte) string {
	const complete = `"resultType":"complete"`
	if bytes.HasPrefix(result, []byte("{"+complete)) || bytes.HasSuffix(result, []byte(","+complete+"}")) {
		return "complete"
	}
	kind, _ := wire.Unquote(lookup(result, "resultType"))
	return kind
}

// private is a result that may not be shared between callers. Of what nobody caches nothing is looked for: it may be long.
func private(method string, result []byte) []byte {
	const scope, own = "cacheScope", `"private"`
	if !cacheable[method] || !bytes.Contains(result, []byte(scope)) {
		return result
	}
	from, to := wire.SpanOf(result, scope)
	if from == to || string(result[from:to]) == own {
		return result
	}
	return slices.Concat(result[:from], []byte(own), result[to:])
}

// lookup looks for a member that most results do not have, which can be told without reading them.
func lookup(object []byte, name string) []byte {
	if !bytes.Contains(object, []byte(name)) {
		return nil
	}
	return wire.MemberOf(object, name)
}

// appendResult writes an object with more members in front.
func appendResult(b []byte, members string, object []byte) []byte {
	if members == "" {
		return append(b, object...)
	}
	rest := object[1:]
	if trimmed := bytes.TrimLeft(rest, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '}' {
		members = members[:len(members)-1]
	}
	return append(append(append(b, '{'), members...), rest...)
}
