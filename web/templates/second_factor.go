package templates

// CodePage asks for the second factor of a sign-in. Its form sends code and return_to to /login/code.
type CodePage struct {
	Frame    Frame
	Form     Form
	ReturnTo string
	Again    string // the sign-in page with the same return_to
}

// SecondFactorPage sets up and removes a second factor. Its forms send code below /account/second-factor.
type SecondFactorPage struct {
	Frame     Frame
	Tenant    string         // the tenant that requires one first; empty: none
	Others    []TenantChoice // tenants to switch to instead
	Elsewhere bool           // the person signed in by SSO, where Patchbay has no second factor
	On        bool
	Left      string // number of unused recovery codes
	Key       string // the key that is being set up, in groups; empty: none
	URI       string // the key as an otpauth URI
	Code      QRCode // the URI as a QR code
	Confirm   Form
	Renew     Form
	Remove    Form
	New       []string // new recovery codes, shown once
}

// QRCode is a drawing in units of one module.
type QRCode struct {
	Size string // with the quiet zone
	Path string // of the dark modules
}
