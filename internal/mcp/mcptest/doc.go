// Package mcptest is a scripted MCP server for tests. It behaves well unless a script says otherwise.
//
//	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(20), Stream: true})
//	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": mcptest.Hang}})
//
// It records every call that it receives.
package mcptest
