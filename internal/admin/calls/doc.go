// Package calls serves the pages of calls, tasks and approvals.
//
//	view, approval_view, task_view    rows and details
//	result_view                       a tool's result, all of it remote text, by the types of its blocks
package calls
