package imagecheck

import (
	"bufio"
	"encoding/binary"
	"io"
)

// The markers that matter (ITU-T T.81, Table B.1).
const (
	markerSOF0 = 0xc0 // baseline
	markerSOF1 = 0xc1 // extended sequential
	markerSOF2 = 0xc2 // progressive
	markerDHT  = 0xc4
	markerDAC  = 0xcc
	markerSOFF = 0xcf
	markerRST0 = 0xd0
	markerRST7 = 0xd7
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerDQT  = 0xdb
	markerTEM  = 0x01
)

// checkJPEG walks from marker to marker. cost estimates the bytes that decoding
// would take.
func checkJPEG(r *bufio.Reader) (width, height, cost int, err error) {
	if _, err := r.Discard(2); err != nil {
		return 0, 0, 0, err
	}
	var tables, quantized, scanned bool
	for {
		marker, err := nextMarker(r)
		if err != nil {
			return 0, 0, 0, err
		}
		switch {
		case marker == markerEOI:
			if !scanned {
				return 0, 0, 0, undecodable("it ends without its pixels")
			}
			return width, height, cost, nil
		case marker == markerSOI || marker == markerDAC:
			return 0, 0, 0, undecodable("it has a marker that does not belong there")
		case marker == markerTEM || markerRST0 <= marker && marker <= markerRST7:
			continue
		}
		var size [2]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return 0, 0, 0, err
		}
		left := int(binary.BigEndian.Uint16(size[:])) - 2
		if left < 0 {
			return 0, 0, 0, undecodable("a segment is too short")
		}
		switch marker {
		case markerDHT:
			tables = true
		case markerDQT:
			quantized = true
		case markerSOF0, markerSOF1, markerSOF2:
			var frame [6]byte
			if width != 0 || left < len(frame) {
				return 0, 0, 0, undecodable("its header is damaged")
			}
			if _, err := io.ReadFull(r, frame[:]); err != nil {
				return 0, 0, 0, err
			}
			left -= len(frame)
			height, width = int(binary.BigEndian.Uint16(frame[1:3])), int(binary.BigEndian.Uint16(frame[3:5]))
			components := int(frame[5])
			if frame[0] != 8 || components != 1 && components != 3 && components != 4 || left != 3*components {
				return 0, 0, 0, undecodable("it is of an unusual kind")
			}
			if err := checkBounds(width, height); err != nil {
				return 0, 0, 0, err
			}
			if cost = width * height * components; marker == markerSOF2 {
				cost *= 5 // its coefficients are kept until the last scan
			}
		case markerSOS:
			if width == 0 || !tables || !quantized {
				return 0, 0, 0, undecodable("its tables are missing")
			}
			scanned = true
		default:
			if markerSOF0 < marker && marker <= markerSOFF {
				return 0, 0, 0, undecodable("it is of an unusual kind")
			}
		}
		if _, err := r.Discard(left); err != nil {
			return 0, 0, 0, err
		}
	}
}

// nextMarker skips to the next marker: past the coded data of a scan, in which
// 0xff is followed by 0 or a restart marker, and past fill bytes.
func nextMarker(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != 0xff {
			continue
		}
		for b == 0xff {
			if b, err = r.ReadByte(); err != nil {
				return 0, err
			}
		}
		if b != 0 {
			return b, nil
		}
	}
}
