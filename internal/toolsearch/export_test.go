package toolsearch

// Counts returns the numbers of terms and postings.
func (x *Index) Counts() (terms, postings int) { return len(x.terms), len(x.postings) }

// ComparedTerms is comparedTerms.
func (x *Index) ComparedTerms(stem string) (start, end int) { return x.comparedTerms(stem) }
