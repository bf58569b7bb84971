package serve

import (
	"bytes"
	"slices"

	"patchbay/internal/mcp/wire"
)

// cacheable are the methods whose results state how long they may be cached.
var cacheable = map[string]bool{
	"server/discover": true, "tools/list": true, "prompts/list": true, "resources/list": true, "resources/templates/list": true,
	"resources/read": true, "skills/list": true, "skills/get": true,
}

// missingMembers returns the members to insert in front of a result's own, each followed by a comma.
func missingMembers(method string, result []byte) string {
	kind, lacks := resultType(result), ""
	if kind == "" {
		kind, lacks = "complete", `"resultType":"complete",`
	}
	if kind != "complete" || !cacheable[method] {
		return lacks
	}
	if findMember(result, "ttlMs") == nil {
		lacks += `"ttlMs":0,`
	}
	if findMember(result, "cacheScope") == nil {
		lacks += `"cacheScope":"private",`
	}
	return lacks
}

// resultType returns the result's type; empty: none. It checks both ends first, to avoid reading a long result.
func resultType(result []byte) string {
	const complete = `"resultType":"complete"`
	if bytes.HasPrefix(result, []byte("{"+complete)) || bytes.HasSuffix(result, []byte(","+complete+"}")) {
		return "complete"
	}
	kind, _ := wire.Unquote(findMember(result, "resultType"))
	return kind
}

// withPrivateScope returns a result with cacheScope private. Results that cannot be cached are not searched:
// they may be long.
func withPrivateScope(method string, result []byte) []byte {
	const scope, own = "cacheScope", `"private"`
	if !cacheable[method] || !bytes.Contains(result, []byte(scope)) {
		return result
	}
	from, to := wire.FindMemberSpan(result, scope)
	if from == to || string(result[from:to]) == own {
		return result
	}
	return slices.Concat(result[:from], []byte(own), result[to:])
}

// findMember returns a member that most results lack: without its name in the bytes, the object is not parsed.
func findMember(object []byte, name string) []byte {
	if !bytes.Contains(object, []byte(name)) {
		return nil
	}
	return wire.FindMember(object, name)
}

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
