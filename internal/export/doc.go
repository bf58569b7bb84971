// Package export writes a table as a file for download: CSV for spreadsheets, JSON for programs. It reads the
// table part by part and holds only one, so that a long table needs no more memory than a short one.
//
//	file, err := export.Table[row]{Name: "calls", Columns: columns, Part: part}.Open() // reads the first part; its error is an HTTP error
//	n, err := file.Write(w, export.CSV)                                               // reads the others
//
// An incomplete file says so in its last line. The caller authorizes, and chooses the columns.
package export
