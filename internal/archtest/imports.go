package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Module is the path that all our packages share.
const Module = "patchbay"

// Package is one package of the tree, as go list describes it.
type Package struct {
	Path    string   // below the module's root
	Imports []string // whole import paths, of non-test files
	Dir     string
	Files   []string // all Go files, tests and those behind build tags too
}

// CheckFloors reports the packages that break the order of the floors in rooms, and the exceptions that nothing needs.
func CheckFloors(rooms []Room, exceptions []Exception, packages []Package) []string {
	var wrong []string
	needed := map[Exception]bool{}
	table := make(map[string]Room, len(rooms))
	for _, room := range rooms {
		if _, twice := table[room.Path]; twice {
			wrong = append(wrong, fmt.Sprintf("%s stands in the list of rooms twice", room.Path))
		}
		table[room.Path] = room
	}
	for _, p := range packages {
		from, known := table[p.Path]
		if !known {
			wrong = append(wrong, fmt.Sprintf("%s has no floor: give it a row in rooms.go", p.Path))
			continue
		}
		for _, path := range ours(p.Imports) {
			to, known := table[path]
			if !known {
				continue
			}
			refused := checkImport(from, to)
			i := slices.IndexFunc(exceptions, func(e Exception) bool { return e.From == from.Path && e.To == to.Path })
			if len(refused) > 0 && i >= 0 {
				needed[exceptions[i]] = true
				continue
			}
			wrong = append(wrong, refused...)
		}
	}
	for _, room := range rooms {
		if !slices.ContainsFunc(packages, func(p Package) bool { return p.Path == room.Path }) {
			wrong = append(wrong, fmt.Sprintf("%s has a floor and no package: take its row out of rooms.go", room.Path))
		}
	}
	for _, e := range exceptions {
		if !needed[e] {
			wrong = append(wrong, fmt.Sprintf("%s needs no exception for %s: take its row out of rooms.go", e.From, e.To))
		}
	}
	return wrong
}

func checkImport(from, to Room) []string {
	complain := func(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }
	switch {
	case from.Floor == Tests:
		return nil
	case to.Floor == Tests:
		return complain("%s imports %s, which is for tests", from.Path, to.Path)
	case to.Part && !sameRoom(from, to):
		return complain("%s imports %s, which is a part of another room", from.Path, to.Path)
	case to.Part:
		return nil
	case to.Floor > from.Floor:
		return complain("%s (floor %s) imports upward: %s (floor %s)", from.Path, from.Floor, to.Path, to.Floor)
	case to.Floor == from.Floor:
		return complain("%s imports its neighbour %s (floor %s)", from.Path, to.Path, to.Floor)
	}
	return nil
}

// sameRoom reports whether from is the package that owns the part to, or lies below it.
func sameRoom(from, to Room) bool {
	owner := to.Path[:strings.LastIndex(to.Path, "/")]
	return from.Path == owner || strings.HasPrefix(from.Path, owner+"/")
}

// ours picks the imports of this module, as paths below its root.
func ours(imports []string) []string {
	var paths []string
	for _, path := range imports {
		if below, ok := strings.CutPrefix(path, Module+"/"); ok {
			paths = append(paths, below)
		}
	}
	return paths
}
