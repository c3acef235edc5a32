package scenario

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

// A binary file is the magic and blocks. A block is its head and its content:
//
//	0  1 byte   B for statements, E for the end of the file
//	1  3 bytes  0
//	4  4 bytes  length of the content as it is in the file, little-endian as all
//	8  4 bytes  length of the content before it was compressed
//	12 4 bytes  CRC-32C of the first 12 bytes and of the content as it is in the file
//
// Content is compressed by package flate. Times and texts begin anew in each block, so
// that each can be read without the others. That of the end is the number of statements
// in the file, as a varint.
const (
	magic     = "RGSCEN\x01\n"
	headBytes = 16
	fullBlock = 64 << 10 // bytes, before compression, at which a block is written
	maxBlock  = 16 << 20 // bytes that a reader takes
)

const (
	statementsBlock = 'B'
	endBlock        = 'E'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockWriter writes blocks.
type blockWriter struct {
	w     io.Writer
	out   bytes.Buffer
	flate *flate.Writer
}

func (b *blockWriter) write(kind byte, content []byte) error {
	b.out.Reset()
	b.out.Write(make([]byte, headBytes))
	if b.flate == nil {
		b.flate, _ = flate.NewWriter(&b.out, flate.BestSpeed)
	} else {
		b.flate.Reset(&b.out)
	}
	if _, err := b.flate.Write(content); err != nil {
		return err
	}
	if err := b.flate.Close(); err != nil {
		return err
	}
	file := b.out.Bytes()
	file[0] = kind
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-headBytes))
	binary.LittleEndian.PutUint32(file[8:], uint32(len(content)))
	binary.LittleEndian.PutUint32(file[12:], checksum(file))
	_, err := b.w.Write(file)
	return err
}

func checksum(block []byte) uint32 {
	return crc32.Update(crc32.Checksum(block[:12], castagnoli), castagnoli, block[headBytes:])
}

// blockReader reads blocks.
type blockReader struct {
	r       io.Reader
	offset  int64 // where the present block begins
	next    int64 // where the next one does
	file    []byte
	content bytes.Buffer
	flate   io.ReadCloser
}

// read returns the next block. The content is good until the next call.
func (b *blockReader) read() (kind byte, content []byte, err error) {
	b.offset = b.next
	b.file = append(b.file[:0], make([]byte, headBytes)...)
	if n, err := io.ReadFull(b.r, b.file); err != nil {
		if n == 0 && err == io.EOF {
			return 0, nil, io.EOF
		}
		return 0, nil, cutOff(err, "in the head of a block")
	}
	kind = b.file[0]
	packed, plain := binary.LittleEndian.Uint32(b.file[4:]), binary.LittleEndian.Uint32(b.file[8:])
	if kind != statementsBlock && kind != endBlock || b.file[1]|b.file[2]|b.file[3] != 0 || packed > maxBlock || plain > maxBlock {
		return 0, nil, fmt.Errorf("this is no head of a block")
	}
	if err := b.readContent(int(packed)); err != nil {
		return 0, nil, cutOff(err, "in a block")
	}
	if checksum(b.file) != binary.LittleEndian.Uint32(b.file[12:]) {
		return 0, nil, fmt.Errorf("the checksum of the block does not fit its content")
	}
	b.next += int64(len(b.file))
	in := bytes.NewReader(b.file[headBytes:])
	if b.flate == nil {
		b.flate = flate.NewReader(in)
	} else if err := b.flate.(flate.Resetter).Reset(in, nil); err != nil {
		return 0, nil, err
	}
	b.content.Reset()
	n, err := io.Copy(&b.content, io.LimitReader(b.flate, int64(plain)+1))
	if err != nil || n != int64(plain) {
		return 0, nil, fmt.Errorf("the content of the block has not the length that its head says")
	}
	return kind, b.content.Bytes(), nil
}

// readContent appends so many bytes to the block. It allocates as they come: a damaged
// length costs nothing.
func (b *blockReader) readContent(n int) error {
	for n > 0 {
		part := min(n, fullBlock)
		at := len(b.file)
		b.file = append(b.file, make([]byte, part)...)
		if _, err := io.ReadFull(b.r, b.file[at:]); err != nil {
			return err
		}
		n -= part
	}
	return nil
}

func cutOff(err error, where string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the file ends %s", where)
	}
	return err
}
