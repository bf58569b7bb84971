package toolfmt

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// walk is one pass over a schema document that follows its references. It is bounded: references can unfold to any size.
type walk struct {
	root  *value
	room  int // what may still be written, roughly in bytes
	steps int // how many properties and words of combined schemas may still be looked at
}

// The bounds of one tool's schema.
const (
	maxWritten = 256 << 10
	maxSteps   = 4_000
)

// perNode is what a schema costs beside its texts.
const perNode = 32

func newWalk(root *value) *walk { return &walk{root: root, room: maxWritten, steps: maxSteps} }

// spend takes from the room, and tells whether there was any.
func (w *walk) spend(bytes int) bool {
	w.room -= bytes
	return w.room > 0
}

// maxHops is how many references may lead to one another.
const maxHops = 16

// deref follows a schema's references within the document (JSON Schema 2020-12 §8.2.3.1; what stands beside a reference
// counts, too). trail are the schemas that are being written; cyclic tells that v leads back into one of them. A reference
// that leads nowhere says nothing.
func (w *walk) deref(v *value, trail []*value) (target *value, longer []*value, cyclic bool) {
	for range maxHops {
		ref := v.kinded("$ref", '"')
		if ref == nil {
			return v, trail, false
		}
		to := w.find(unquote(ref.raw))
		if to != nil && slices.Contains(trail, to) {
			return to, trail, true
		}
		beside := without(v, "$ref")
		if to == nil || to.kind != '{' {
			return beside, trail, false
		}
		trail = append(slices.Clip(trail), to)
		v = overlay(to, beside)
	}
	return newObject(), trail, true
}

// find is the value that a reference names by a JSON pointer (RFC 6901, as a URI fragment); nil where there is none.
func (w *walk) find(ref string) *value {
	fragment, local := strings.CutPrefix(ref, "#")
	if !local || fragment != "" && fragment[0] != '/' {
		return nil
	}
	if decoded, err := url.PathUnescape(fragment); err == nil {
		fragment = decoded
	}
	at := w.root
	for _, step := range strings.Split(fragment, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if at = at.step(step); at == nil {
			return nil
		}
	}
	return at
}

func (v *value) step(name string) *value {
	if v.kind != '[' {
		return v.get(name)
	}
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v.items) {
		return v.items[i]
	}
	return nil
}

// flat is an object schema without references and combinations at its top: the properties of all its parts stand in it.
// What only some alternatives require is not required.
func (w *walk) flat(v *value) *value {
	p := w.parts(v, []*value{v}, true)
	out := p.rest
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		out.drop(name)
	}
	if len(p.properties) > 0 {
		out.set("properties", newObject(p.properties...))
	}
	if len(p.required) > 0 {
		out.set("required", newTexts(p.required))
	}
	return out
}

// parts are what an object schema says of its properties, together with all that it combines.
type parts struct {
	rest       *value // the schema itself, dereferenced
	properties []member
	required   []string
	places     map[string]int  // of the properties
	requires   map[string]bool // the same as required
}

func partsOf(v *value) parts {
	p := parts{rest: clone(v), places: map[string]int{}, requires: map[string]bool{}}
	if own := v.object("properties"); own != nil {
		p.properties = slices.Clone(own.members)
		p.places = own.places()
	}
	p.require(texts(v.list("required")))
	return p
}

func (p *parts) require(names []string) {
	for _, name := range names {
		if !p.requires[name] {
			p.requires[name] = true
			p.required = append(p.required, name)
		}
	}
}

func (w *walk) parts(v *value, trail []*value, first bool) parts {
	v, trail, cyclic := w.deref(v, trail)
	if cyclic && !first || v.kind != '{' || w.steps <= 0 {
		return partsOf(newObject())
	}
	p := partsOf(v)
	w.steps -= 1 + len(p.properties) + len(p.required) + len(v.members)/8
	for _, part := range v.list("allOf") {
		if w.steps > 0 {
			p.also(w.parts(part, trail, false))
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		var alternatives []parts
		for _, part := range v.list(name) {
			alternatives = append(alternatives, w.parts(part, trail, false))
		}
		p.also(either(alternatives))
	}
	return p
}

// also adds a part that holds as well. A property that is there already stays: it is the wider one of two that both hold.
func (p *parts) also(other parts) {
	for _, property := range other.properties {
		if _, known := p.places[property.name]; !known {
			p.places[property.name] = len(p.properties)
			p.properties = append(p.properties, property)
		}
	}
	p.require(other.required)
}

// either is what holds whichever of the alternatives does: every property of any of them, and what all of them require. A
// property that differs between them is one or the other.
func either(alternatives []parts) parts {
	out := partsOf(newObject())
	required := map[string]int{}
	for _, p := range alternatives {
		for _, name := range p.required {
			required[name]++
		}
		for _, property := range p.properties {
			at, there := out.places[property.name]
			if !there {
				out.places[property.name] = len(out.properties)
				out.properties = append(out.properties, property)
				continue
			}
			out.properties[at].value = oneOrOther(out.properties[at].value, property.value)
		}
	}
	if len(alternatives) > 0 {
		out.require(slices.DeleteFunc(slices.Clone(alternatives[0].required), func(name string) bool {
			return required[name] < len(alternatives)
		}))
	}
	return out
}

// maxAlternatives is how many schemas of one property are told apart.
const maxAlternatives = 32

// oneOrOther is the union of two schemas, made by us where it is one already. One of too many is a schema that takes anything.
func oneOrOther(a, b *value) *value {
	if a == b || a.kind == '{' && len(a.members) == 0 {
		return a
	}
	alternatives := []*value{a}
	if made := a.kinded("anyOf", '['); made != nil && len(a.members) == 1 {
		alternatives = made.items
	}
	text := b.write(nil)
	if slices.ContainsFunc(alternatives, func(v *value) bool { return v == b || bytes.Equal(v.write(nil), text) }) {
		return a
	}
	if len(alternatives) == maxAlternatives {
		return newObject()
	}
	return newObject(member{"anyOf", newList(append(slices.Clip(alternatives), b)...)})
}

// overlay is a with b's members over it.
func overlay(a, b *value) *value {
	out := clone(a)
	places := out.places()
	for _, m := range b.members {
		if at, there := places[m.name]; there {
			out.members[at] = m
			continue
		}
		out.members = append(out.members, m)
	}
	return out
}

// without is a copy of an object that lacks a member.
func without(v *value, name string) *value {
	out := newObject()
	for _, m := range v.members {
		if m.name != name {
			out.members = append(out.members, m)
		}
	}
	return out
}

func clone(v *value) *value { return newObject(slices.Clone(v.members)...) }

// texts are the strings of a list, each once.
func texts(list []*value) []string {
	var out []string
	seen := map[string]bool{}
	for _, item := range list {
		if item.kind != '"' {
			continue
		}
		if s := unquote(item.raw); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}
