// Package doctor checks an installation and says what to do about each problem. It changes nothing.
//
//	doctor.go        runs the checks and prints their findings
//	settings.go      settings, addresses, egress and catalog
//	certificate.go   the certificate at the base URL
//	mail.go          the SMTP server
//	loops.go         the background loops of the running server
//	programs.go      the programs that connectors may start
//	database.go      PostgreSQL, the key and the schema
package doctor
