package ctl

import (
	"strings"

	"patchbay/client"
)

// beginning is what paths of the API may be written without.
const beginning = "/api/v1/"

// pathWords are the paths of a method that begin with what is written, with the slugs and ids that are written already. Where a slug stands next,
// names says of what: connector or agent.
func pathWords(method, written string) (words []string, names string) {
	for _, path := range client.Paths(method) {
		if !strings.HasPrefix(written, "/") {
			path = strings.TrimPrefix(path, beginning)
		}
		segments, typed := strings.Split(path, "/"), strings.Split(written, "/")
		if len(typed) > len(segments) || !follows(segments, typed[:len(typed)-1]) {
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

// follows says whether a path goes as what is typed, and puts that in the place of its parameters.
func follows(segments, typed []string) bool {
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
