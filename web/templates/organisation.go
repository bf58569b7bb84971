package templates

// MembersPage lists the people of the tenant. Its form sends email, name, role and password to /members.
type MembersPage struct {
	Frame Frame
	Rows  []MemberRow
	Count string
	Roles []Option
	Form  Form
	Pager Pager
}

// MemberRow is one person. Changing the role sends role to Action + "/role", removing posts to Action + "/delete".
type MemberRow struct {
	Name     string
	Email    string
	Initial  string
	Self     bool
	Role     string // the value
	RoleName string // the word
	SignedIn When
	Action   string // "/members/<id>"
}

// APIKeysPage lists the keys. Its form sends name, role and expires_at (a date, or empty) to /api-keys.
type APIKeysPage struct {
	Frame Frame
	Rows  []APIKeyRow
	Count string
	Roles []Option
	Form  Form
	New   *NewAPIKey // the key that was just made; nil: none
	Pager Pager
}

// APIKeyRow is one key. Revoking posts to Revoke.
type APIKeyRow struct {
	Name     string
	Prefix   string
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

// SettingsPage is about the tenant. Its form sends name to /settings.
type SettingsPage struct {
	Frame Frame
	Form  Form
	Facts []Fact // id, slug, made
}

// ErrorPage says why there is no page.
type ErrorPage struct {
	Frame     Frame
	Status    int
	Title     string // "There is no such page"
	Text      string // what to do
	RequestID string // empty: none
	Links     []Link
}
