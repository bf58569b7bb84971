package mcp

// Challenge is one of the ways to authenticate that a server names in WWW-Authenticate (RFC 9110 §11.6.1).
type Challenge struct {
	Scheme string            // in lower case, as "bearer"
	Params map[string]string // names in lower case
}
