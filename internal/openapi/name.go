package openapi

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

const maxNameBytes = 64

var (
	nameCharacters     = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
	argumentCharacters = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
)

// nameOperations names the operations. A name depends on the operation alone, unless two have the same one: then the
// operation with that name as its id has it, else the first by path and method. The others get a suffix of method and path.
// Names that were given before stay, so that an operation that is added later takes none.
func nameOperations(operations []*Operation, given map[string]string) {
	taken := map[string]bool{}
	var open []*Operation
	for _, o := range operations {
		if name := given[o.Key()]; name != "" && !taken[name] {
			o.Name, taken[name] = name, true
		} else {
			open = append(open, o)
		}
	}
	slices.SortStableFunc(open, func(a, b *Operation) int {
		return cmp.Or(-compareBool(a.id == a.plainName(), b.id == b.plainName()), strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
	})
	for _, o := range open {
		name := o.plainName()
		if taken[name] {
			name = addSuffix(name, o.Key())
		}
		o.Name = uniqueName(name, taken)
	}
}

// Namer returns a function that names the operations, in their order, as [Options.Names] does. It keeps little of the document.
func (d *Document) Namer() func(given map[string]string) []string {
	kept := make([]Operation, len(d.Operations))
	for i, o := range d.Operations {
		kept[i] = Operation{Method: strings.Clone(o.Method), Path: strings.Clone(o.Path), id: strings.Clone(o.id)} // not the document with them
	}
	return func(given map[string]string) []string {
		operations, names := make([]*Operation, len(kept)), make([]string, len(kept))
		for i, o := range kept {
			operations[i] = &o
		}
		nameOperations(operations, given)
		for i, o := range operations {
			names[i] = o.Name
		}
		return names
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// plainName is the name of an operation without regard to others: its id, or method and path.
func (o *Operation) plainName() string {
	name := strings.Trim(nameCharacters.ReplaceAllString(o.id, "_"), "_-")
	if name == "" {
		name = strings.ToLower(o.Method) + "_" + strings.Trim(nameCharacters.ReplaceAllString(o.Path, "_"), "_")
		name = strings.Trim(name, "_")
	}
	if !isLetter(name[0]) {
		name = "op_" + name
	}
	if len(name) > maxNameBytes {
		name = addSuffix(name, o.id+" "+o.Key())
	}
	return name
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// addSuffix ends a name with a hash of text, within the bound.
func addSuffix(name, text string) string {
	sum := sha256.Sum256([]byte(text))
	suffix := "_" + hex.EncodeToString(sum[:4])
	return strings.TrimRight(name[:min(len(name), maxNameBytes-len(suffix))], "_-") + suffix
}

// argumentName returns a name that providers accept as a property's: filter[name] is filter_name.
func argumentName(name string) string {
	name = strings.Trim(argumentCharacters.ReplaceAllString(name, "_"), "_")
	switch {
	case name == "" || identifiers[name]:
		return "value"
	case len(name) > maxNameBytes:
		return addSuffix(name, name)
	}
	return name
}

// argumentNames gives each value of a call a name of its own. The first keeps the plain one, so the order says which location
// has priority.
type argumentNames map[string]bool

// Take returns the name for a value.
func (n argumentNames) Take(name, in string) string {
	plain := argumentName(name)
	if n[plain] {
		plain = argumentName(in + "_" + name)
	}
	return uniqueName(plain, n)
}
