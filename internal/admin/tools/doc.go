// Package tools serves the pages of tools: search, definition, curation, trial, and the review of changes.
//
//	schema, schema_resolve                 an input schema as a page shows it, within bounds
//	form, form_view, form_read, form_fill  an input schema → a form → arguments, and back
//	change_*                               changes of tools and of instructions
package tools
