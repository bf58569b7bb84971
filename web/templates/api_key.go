package templates

// APIKeysPage lists the keys. Its form sends name, role and expires_at (a date, or empty) to /api-keys.
type APIKeysPage struct {
	Frame Frame
	Rows  []APIKeyRow
	Count string
	Roles []Option
	Form  Form
	New   *NewAPIKey // the key that was just made; nil: none
	Soon  *Attention // keys that stop soon; nil: none does
	Pager Pager
}

// APIKeyRow is one key. Revoking posts to Revoke.
type APIKeyRow struct {
	Name     string
	Prefix   string
	By       string // who made it; empty: not known
	Role     string
	State    State
	Created  When
	LastUsed When
	Expires  When
	Revoke   string // empty: it is revoked already
}

// NewAPIKey is a key that is shown this once.
type NewAPIKey struct {
	Name    string
	Token   string
	Example string // a command that uses it
}
