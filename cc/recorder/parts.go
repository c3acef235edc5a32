package recorder

// Names and lists do not fit into one record. They lie in records before it, whose slots
// follow each other: if one of them is missing, the whole call is.

// textBytes is how much of a text one record holds, and numbersMost how many numbers.
const (
	textBytes   = 6 * 8
	numbersMost = 6
)

// appendText adds a text, as one record at least.
func appendText(to []record, text string) []record {
	for {
		part := text[:min(len(text), textBytes)]
		text = text[len(part):]
		r := record{lead(textKind, uint8(len(part)), flag(text == ""), 0, 0)}
		for i := range len(part) {
			r[1+i/8] |= uint64(part[i]) << (8 * (i % 8))
		}
		if to = append(to, r); text == "" {
			return to
		}
	}
}

// appendNumbers adds numbers. One that repeats takes no more room, up to 255 times.
func appendNumbers[T ~uint64 | ~int64 | ~uint32](to []record, numbers []T) []record {
	const most = 255
	for i := 0; i < len(numbers); {
		r, word := record{lead(numbersKind, 0, 0, 0, 0)}, 0
		for ; i < len(numbers) && word < numbersMost; word++ {
			n, times := numbers[i], 0
			for i < len(numbers) && numbers[i] == n && times < most {
				i, times = i+1, times+1
			}
			r[0] |= uint64(times) << (8 * (word + 1))
			r[1+word] = uint64(n)
		}
		to = append(to, r)
	}
	return to
}

// parts gathers what lies before a record.
type parts struct {
	records int
	texts   []string
	open    bool // the last text goes on
	numbers []uint64
}

func (p *parts) clear() { *p = parts{texts: p.texts[:0], numbers: p.numbers[:0]} }

// take takes a record that is a part, and reports whether it is one.
func (p *parts) take(r *record) bool {
	switch r.kind() {
	case textKind:
		var text [textBytes]byte
		for i := range text {
			text[i] = byte(r[1+i/8] >> (8 * (i % 8)))
		}
		part := string(text[:min(int(r.octet(1)), textBytes)])
		if p.open {
			p.texts[len(p.texts)-1] += part
		} else {
			p.texts = append(p.texts, part)
		}
		p.open = r.octet(2) == 0
	case numbersKind:
		for word := range numbersMost {
			for range r.octet(word + 1) {
				p.numbers = append(p.numbers, r[1+word])
			}
		}
	default:
		return false
	}
	p.records++
	return true
}

// text returns text i, empty if it is missing.
func (p *parts) text(i int) string {
	if i < len(p.texts) {
		return p.texts[i]
	}
	return ""
}

// numbers32 returns the numbers of routes.
func (p *parts) numbers32() (list []uint32) {
	for _, n := range p.numbers {
		list = append(list, uint32(n))
	}
	return list
}
