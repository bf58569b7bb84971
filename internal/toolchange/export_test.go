package toolchange

// The bounds of a comparison, and of a list of comparisons.
const (
	MaxWork     = maxWork
	MaxListWork = maxListWork
)

// Used returns the work of the comparisons until now.
func (b *Budget) Used() int { return maxListWork - b.remaining }

// Compare is [Budget.Compare] with a budget of its own.
func Compare(before, now []byte, names *Names) Change {
	return NewBudget(nil).Compare(before, now, names)
}

// ExcerptAround shows a match in its context.
func ExcerptAround(text string, from, to int) string { return excerptAround(text, from, to) }
