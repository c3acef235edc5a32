package transfer

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksums returns the CRC-32C of each slice of mem.
func checksums(mem []byte, sliceBytes int) []uint32 {
	sums := make([]uint32, 0, (len(mem)+sliceBytes-1)/sliceBytes)
	for len(mem) > 0 {
		n := min(sliceBytes, len(mem))
		sums = append(sums, crc32.Checksum(mem[:n], castagnoli))
		mem = mem[n:]
	}
	return sums
}
