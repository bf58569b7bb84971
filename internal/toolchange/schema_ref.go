package toolchange

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
)

// root is a whole schema, in which its references lead somewhere.
type root struct {
	node    any
	reached map[string]bool // definitions that were met on the way
}

func rootOf(v any) root { return root{node: v, reached: map[string]bool{}} }

// expanded is a schema as an object, in place of its reference what that leads to.
type expanded struct {
	node map[string]any
	ref  string // the reference that was followed; empty: none
}

// mostHops are the references that lead on to references.
const mostHops = 16

// expand makes an object of a schema; ok is false where it is none. What stands beside a reference counts besides.
func (r root) expand(v any) (e expanded, ok bool) {
	switch v := v.(type) {
	case nil:
		return expanded{node: map[string]any{}}, true
	case bool:
		if v {
			return expanded{node: map[string]any{}}, true
		}
		return expanded{node: map[string]any{"not": map[string]any{}}}, true
	case map[string]any:
		e.node = v
	default:
		return e, false
	}
	for range mostHops {
		ref, isText := e.node["$ref"].(string)
		target, found := r.find(ref)
		if !isText || !found {
			return e, true
		}
		merged := maps.Clone(target)
		for name, v := range e.node {
			if name != "$ref" {
				merged[name] = v
			}
		}
		e = expanded{node: merged, ref: e.ref + " " + ref}
	}
	return e, true
}

// find follows a reference within the schema.
func (r root) find(ref string) (map[string]any, bool) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	if text, err := url.PathUnescape(pointer); err == nil {
		pointer = text
	}
	steps := strings.Split(pointer, "/")[1:]
	if len(steps) >= 2 {
		r.reached[steps[0]+"/"+steps[1]] = true
	}
	at := r.node
	for _, step := range steps {
		switch v := at.(type) {
		case map[string]any:
			at = v[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			at = v[i]
		default:
			return nil, false
		}
	}
	object, ok := at.(map[string]any)
	return object, ok
}

// follow notes which definitions a schema leads to.
func (r root) follow(v any, depth int) {
	if depth > mostDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			r.follow(item, depth+1)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			before := len(r.reached)
			if target, found := r.find(ref); found && len(r.reached) > before {
				r.follow(target, depth+1)
			}
		}
		for _, item := range v {
			r.follow(item, depth+1)
		}
	}
}

// definitions compares those that no pair of schemas led to: a model reads them all the same.
func (w *walk) definitions(path string) {
	for _, keyword := range []string{"$defs", "definitions"} {
		a, b := object(w.before.node, keyword), object(w.now.node, keyword)
		for _, name := range memberNames(a, b) {
			now, is := b[name]
			if !is || w.now.reached[keyword+"/"+name] || equal(a[name], now) {
				continue
			}
			at := member(path, keyword) + "." + cut(name)
			if before, was := a[name]; was {
				w.nodes(at, before, now, 1)
				continue
			}
			w.turn(at, TypeChanged, "", short(now, true), "is new, and nothing leads to it")
		}
	}
}

func object(v any, member string) map[string]any {
	outer, _ := v.(map[string]any)
	inner, _ := outer[member].(map[string]any)
	return inner
}
