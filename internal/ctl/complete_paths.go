package ctl

import (
	"strings"

	"patchbay/client"
)

const pathPrefix = "/api/v1/"

// pathWords returns the paths of a method that begin with written, with its slugs and ids. If a slug is next,
// names is its kind: connector or agent.
func pathWords(method, written string) (words []string, names string) {
	for _, path := range client.Paths(method) {
		if !strings.HasPrefix(written, "/") {
			path = strings.TrimPrefix(path, pathPrefix)
		}
		segments, typed := strings.Split(path, "/"), strings.Split(written, "/")
		if len(typed) > len(segments) || !matchPath(segments, typed[:len(typed)-1]) {
			continue
		}
		last := len(typed) - 1
		switch {
		case !isParameter(segments[last]):
			words = append(words, strings.Join(segments, "/"))
		case last > 0 && segments[last-1] == "connectors":
			names = "connector"
		case last > 0 && segments[last-1] == "agents":
			names = "agent"
		}
	}
	return words, names
}

// matchPath reports whether a path matches the typed segments, and inserts them for its parameters.
func matchPath(segments, typed []string) bool {
	for i, one := range typed {
		if isParameter(segments[i]) && one != "" {
			segments[i] = one
		}
		if segments[i] != one {
			return false
		}
	}
	return true
}

func isParameter(segment string) bool { return strings.HasPrefix(segment, "{") }
