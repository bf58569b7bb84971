// Package export writes a table as a file that people take along: CSV for spreadsheets, JSON for programs. It reads the table part by part
// and keeps none of them, so that a long table costs no more memory than a short one.
//
//	file, err := export.Table[row]{Name: "calls", Columns: columns, Part: part}.Open() // reads the first part: what fails here is told as usual
//	n, err := file.Write(w, export.CSV)                                               // reads the others
//
// A file that does not hold everything says so in its last line. It decides neither who may read a table nor what its columns are.
package export
