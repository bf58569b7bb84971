// Package toolsearch finds tools by words, in memory.
//
//	tokens.go    splits text into words, folds and stems them
//	synonyms.go  words that mean the same in the names of tools
//	params.go    reads parameters from an input schema
//	index.go     builds the index: New
//	query.go     turns words into terms of the index, and corrects misspelled ones
//	search.go    ranks the tools: BM25F, with weights for fields
//	learned.go   which words led to which tool before
//
// An Index is immutable: rebuild it when the list of tools changes. It is safe for concurrent use.
// It keeps terms and numbers, and the names of the tools, but not their descriptions.
//
// The ranking is the BM25F of Robertson and Zaragoza (The Probabilistic Relevance Framework, 2009, section 3.6).
// BenchmarkRetrieval measures it on definitions and questions of testdata, beside two simpler rankings.
package toolsearch
