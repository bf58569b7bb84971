// Package ctl is the remote command line: `patchbay ctl` calls the JSON API of an installation with an API key,
// by package client.
//
//	patchbay ctl connectors list|get|add|delete|sync|tools|test|credentials
//	patchbay ctl agents     list|get|add|delete|grants|grant|drop|tools|why|workloads
//	patchbay ctl tokens     list|create|revoke                       agents.go
//	patchbay ctl call       AGENT TOOL [ARGUMENTS]
//	patchbay ctl calls      list|get|cancel
//	patchbay ctl approvals  list|approve|deny                        calls.go
//	patchbay ctl changes    list|accept|reject                       changes.go
//	patchbay ctl api        METHOD PATH [JSON|@FILE|-] [--paginate]  api.go
//	patchbay ctl manifest
//	patchbay apply          -f FILE [--check] [--prune]              apply.go
//
// Output is a table, or with --output json the API's response. Characters that control a terminal are escaped,
// as servers wrote parts of it. A refusal is a sentence on standard error, and exit status 1. All rules are the
// API's.
package ctl
