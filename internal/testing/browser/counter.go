package browser

// Counter works a tab as a person does. It counts each click and each key, but no text that is typed into a field.
type Counter struct {
	*Tab
	Acts int
}

// Count returns a counter of the tab. What the test does by the tab itself is not counted.
func (b *Tab) Count() *Counter { return &Counter{Tab: b} }

// Click counts a click.
func (c *Counter) Click(css string) {
	c.t.Helper()
	c.Acts++
	c.Tab.Click(css)
}

// Press counts one key.
func (c *Counter) Press(key string) {
	c.t.Helper()
	c.Acts++
	c.Tab.Press(key)
}

// Write types a text into the field that has the focus.
func (c *Counter) Write(text string) {
	c.t.Helper()
	c.Tab.Press(text)
}

// AtMost fails the test if more was needed.
func (c *Counter) AtMost(acts int, what string) {
	c.t.Helper()
	if c.Acts > acts {
		c.t.Errorf("%s: %d clicks and keys, at most %d are allowed", what, c.Acts, acts)
	}
}
