// Package shell has what the pages of the dashboard share.
//
//	shell, routes           the services of all pages; the groups to which they add their routes
//	frame, frame_failure    the frame of a page: navigation, breadcrumbs, badges, message
//	form, confirm           posted forms; the confirmation before a dangerous action (confirm_rules has a row per route)
//	list_order, page_size   sort keys, page sizes and links of lists
//	table_export            tables as CSV and JSON files
//	names, times, detail    words for types, times and numbers; bounds of shown text
package shell
