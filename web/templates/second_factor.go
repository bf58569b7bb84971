package templates

// CodePage asks for the other half of a sign-in. Its form sends code and return_to to /login/code.
type CodePage struct {
	Frame    Frame
	Form     Form
	ReturnTo string
	Again    string // the sign-in from its beginning, which goes on to the same page
}

// SecondFactorPage is where a person sets a second factor up, and takes it away. Its forms send code below /account/second-factor.
type SecondFactorPage struct {
	Frame     Frame
	Tenant    string         // that wants one before anything else of it opens; empty: none does
	Others    []TenantChoice // where the person may go instead
	Elsewhere bool           // the person is signed in by single sign-on: it is none of ours
	On        bool
	Left      string // how many recovery codes were not used
	Key       string // of one that is being set up, in parts as people read it; empty: none is
	URI       string // the same as apps open it
	Code      QRCode // the same as apps scan it
	Confirm   Form
	Renew     Form
	Remove    Form
	New       []string // recovery codes, to be shown this once
}

// QRCode is a drawing in squares of one by one.
type QRCode struct {
	Size string // of the drawing, with the margin that scanners need
	Path string // of what is dark
}
