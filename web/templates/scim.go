package templates

// SCIMPage has the organisation's SCIM address.
type SCIMPage struct {
	Frame   Frame
	Enabled bool
	State   State
	URL     string
	Token   string // a new one, shown once; empty: none
	Facts   []Fact
}
