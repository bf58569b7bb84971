// Package searchset reads the set with which the search for tools is measured: definitions of tools, the questions that belong to them, and
// where they are from. internal/toolsearch/testdata/METHOD.txt says how the set was made; conformance/search makes it.
//
//	set.go       the files
//	question.go  the rules of questions
package searchset
