// Command renames compares two trees of the repository: they are equal up to a one-to-one renaming of identifiers, packages and files.
// Comments do not count, and Markdown does not.
//
//	main.go      reads two commits, compares them, and prints what is different
//	load.go      a tree: its Go files with the object of each identifier, and its other files
//	compare.go   pairs of files, token by token; an object of one tree has one object of the other
//	words.go     texts that name what was renamed: string literals, and files that are not Go
//
// The check takes identifiers by the objects that they denote, not by their letters: two methods of one name may get different names, and two
// objects may not exchange theirs. What it cannot see: names that programs read by reflection, as fields without a tag in JSON.
package main
