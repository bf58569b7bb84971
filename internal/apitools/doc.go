// Package apitools makes the tools of a connector that is an HTTP API.
//
//	connector's URL ──conditional GET──► document ──┐
//	                      uploaded document ────────┼─ picked operations ──► tools with bindings
//	                      endpoints by hand ────────┘
//
// A sync reads the document; all else uses the stored one. Documents are public: they are asked for without the
// connector's credential.
package apitools
