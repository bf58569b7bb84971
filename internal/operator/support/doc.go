// Package support collects diagnostics of an installation in an archive, without secrets.
//
//	bundle.go     the archive and its list of files
//	settings.go   the settings, and what is redacted in every file
//	state.go      the state of the database and of the running server
package support
