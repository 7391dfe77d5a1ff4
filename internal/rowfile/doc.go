// Package rowfile keeps rows in a file: their features, labels and what else belongs to a
// row, in blocks with checksums that can be read by themselves.
//
// In come rows one by one ([Create], or [Scratch] for a file without a name); out come chunks of
// them ([Open] and [File.Reader]), and copies of chosen rows in a chosen order ([File.Pick]). Several
// files are opened as one, and written as parts of one ([CreateParts]).
//
// Read format.go first, then write.go and read.go. join.go says which files go together, and
// pick.go copies rows in little memory.
//
// # Format
//
// All numbers are little-endian, and floats are those of IEEE 754. A file is
//
//	"dpglmrow", version (uint32), 4 bytes of zeros
//	blocks, one after the other
//	index: for each block its length and its CRC-32C (uint32 each)
//	facts: JSON, which says how many rows there are and of what form (Facts)
//	tail: where index and facts begin and end (3 × uint64), CRC-32C of index and facts
//	(uint32), "rows"
//
// Each block but the last has Facts.BlockRows rows. A dense block has these features row by
// row as float64; a sparse one has the number of each row's entries (uint32), then the
// entries' columns (uint32), which increase within a row, then their values (float64). Both
// go on with the labels (float64) and the columns of Facts.Beside (float64), one after the
// other.
//
// Facts.Part of a file that was written with others says which of them it is, and has the checksum of
// the one before, so that none is missing, comes twice or from elsewhere.
//
// What the facts say is public. Everything else is private, and files are made for their
// owner's eyes only.
//
// # Damage
//
// A block is checked each time it is read, against the index as it was when the file was
// opened: a file that is changed, cut or damaged meanwhile makes an error. The checksums
// don't hold off an adversary who can write.
package rowfile
