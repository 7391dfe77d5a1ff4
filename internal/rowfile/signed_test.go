package rowfile

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// signed puts right the checksums of a file, as far as it has the form of one, so that the
// fuzzer gets past them.
func signed(data []byte) []byte {
	data = slices.Clone(data)
	n := len(data) - tailSize
	if n < headSize {
		return data
	}
	tail := data[n:]
	index, facts := binary.LittleEndian.Uint64(tail), binary.LittleEndian.Uint64(tail[8:])
	if index < headSize || facts < index || facts > uint64(n) {
		return data
	}
	at := uint64(headSize)
	for entry := index; entry+entryOnDisk <= facts; entry += entryOnDisk {
		length := uint64(binary.LittleEndian.Uint32(data[entry:]))
		if at+length > index {
			break
		}
		binary.LittleEndian.PutUint32(data[entry+4:], crc32.Checksum(data[at:at+length], checksum))
		at += length
	}
	binary.LittleEndian.PutUint32(tail[24:], crc32.Checksum(data[index:n], checksum))
	return data
}
