package templates

import "strconv"

// Badges are the counts in the frame of every page.
type Badges struct {
	Waiting int // calls that wait for approval
	Changes int // changes of tools that wait
	Needs   int // all that needs attention
}

// maxBadge is the largest number in a badge; a larger one is shown as "99+".
const maxBadge = 99

func badgeText(n int) string {
	if n > maxBadge {
		return strconv.Itoa(maxBadge) + "+"
	}
	return strconv.Itoa(n)
}

// documentTitle begins with the count of what needs attention: "(2) Agents · Patchbay".
func (f Frame) documentTitle() string {
	title := f.Title + " · Patchbay"
	if f.Needs > 0 {
		title = "(" + badgeText(f.Needs) + ") " + title
	}
	return title
}
