// Package curl turns a pasted curl command into an endpoint of package openapi.
//
// The command is read, not run. Values that calls change become arguments: identifiers of the path, the query, members of a
// body. A credential is taken out of the command and returned beside the endpoint, so that it is stored as one.
package curl
