// Package rows holds bounded rows, in memory or in a file, and passes over them.
//
// In come matrices (NewTable) and files (NewStored), whose rows are checked and scaled to their
// bound once. Out go sums: a Pass says how the rows of a part are added, and a Table reads its rows
// in blocks and tiles, whose sums it merges in their order. A part of a file is a table in memory,
// so that both answer with the same bits. Rows may lie Elsewhere: then who holds them is sent the
// pass. Nothing here knows what is asked.
//
// Read table.go first, then elsewhere.go, where a Pass is said, and pass.go; stored.go for files.
package rows
