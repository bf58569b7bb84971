package templates

// APIKeysPage lists the keys. Its form sends name, role and expires_at (a date, or empty) to /api-keys.
type APIKeysPage struct {
	Frame Frame
	Rows  []APIKeyRow
	Count string
	Roles []Option
	Form  Form
	New   *NewAPIKey // the new key; nil: none
	Soon  *Attention // keys that expire soon; nil: none
	Pager Pager
}

// APIKeyRow is one key. Revoking posts to Revoke.
type APIKeyRow struct {
	Name     string
	Prefix   string
	By       string // creator; empty: not known
	Role     string
	State    State
	Created  When
	LastUsed When
	Expires  When
	Revoke   string // empty: already revoked
}

// NewAPIKey is a new key, shown once.
type NewAPIKey struct {
	Name    string
	Token   string
	Example string // a command with the key
}
