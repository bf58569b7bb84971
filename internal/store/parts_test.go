package store_test

import (
	"reflect"
	"testing"

	"patchbay/internal/store"
)

// methodNames lists the methods of an entry point and of its parts: "Tx", "Connectors.Create".
func methodNames(entry reflect.Type) []string {
	var names []string
	for m := range entry.Methods() {
		part, is := partOf(m)
		if !is {
			names = append(names, m.Name)
			continue
		}
		for p := range part.Methods() {
			names = append(names, m.Name+"."+p.Name)
		}
	}
	return names
}

// partOf is the part of an entry point that a method returns, if it does that alone.
func partOf(m reflect.Method) (reflect.Type, bool) {
	if m.Type.NumIn() != 1 || m.Type.NumOut() != 1 || m.Type.Out(0).Kind() != reflect.Struct || m.Type.Out(0).NumMethod() == 0 {
		return nil, false
	}
	return m.Type.Out(0), m.Type.Out(0).PkgPath() == reflect.TypeFor[store.Tenant]().PkgPath()
}

// maxPartMethods bounds what a holder of one part may do.
const maxPartMethods = 35

func TestParts_AreSmall(t *testing.T) {
	t.Parallel()
	parts := 0
	for _, entry := range []reflect.Type{reflect.TypeFor[*store.Tenant](), reflect.TypeFor[*store.System](), reflect.TypeFor[*store.Vault]()} {
		if n := entry.NumMethod(); n > maxPartMethods {
			t.Errorf("%s has %d methods", entry, n)
		}
		for m := range entry.Methods() {
			if part, is := partOf(m); is {
				parts++
				if n := part.NumMethod(); n > maxPartMethods {
					t.Errorf("%s has %d methods", part, n)
				}
			}
		}
	}
	if parts < 14 {
		t.Errorf("there are %d parts", parts)
	}
}
