// Package ctl is Patchbay's command line for whoever is not on its machine: `patchbay ctl` asks an installation over the JSON API, with an
// API key, through package client.
//
//	patchbay ctl connectors list|get|add|delete|sync|tools|test
//	patchbay ctl agents     list|get|add|delete|grants|grant|drop|tools|why
//	patchbay ctl tokens     list|create|revoke
//	patchbay ctl call       AGENT TOOL [ARGUMENTS]
//	patchbay ctl calls      list|get|cancel
//	patchbay ctl approvals  list|approve|deny
//	patchbay ctl changes    list|accept|reject
//	patchbay ctl api        METHOD PATH [JSON|@FILE|-] [--paginate]
//	patchbay ctl manifest
//	patchbay apply          -f FILE [--check] [--prune]
//
// What it prints is a table for people, or with --output json what the API answered. What comes from servers is shown without the
// characters that would steer a terminal. A refusal is its sentence on the standard error, and status 1.
//
// It has no rules of its own, and does not know the house: what may be done is what the key may.
package ctl
