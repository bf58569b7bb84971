// Package operator has the commands that the operator runs beside the server, on the installation's own machine.
//
//	commands.go       the commands in groups
//	io.go             the input, output and environment of a command
//	database.go       opens the database for a command
//	tenant*.go user*.go apikey.go sso.go keys*.go audit*.go import.go migrate.go seed.go sbom.go   one command each
//	bench.go          measures scheduled syncs, by package bench
//	doctor.go         checks the installation, by package doctor
//	support_bundle.go collects diagnostics without secrets, by package support
//
// Package installation opens the database and the key, and package ctl has the commands for remote use.
package operator
