package recorder

import "io"

// copied is a record that was copied out of the ring.
type copied struct {
	number uint64
	record record
}

// dump writes the ring, with a remark at the end if there is one.
func (r *Recorder) dump(w io.Writer, f Format, remark string) error {
	records, begin, end := r.copyRing()
	h := r.known.head(begin)
	if h == nil {
		return ErrNotAttached
	}
	h.serial = r.serial
	h.before(records)
	s := newStatements(w, f)
	if err := s.begin(*h); err != nil {
		return err
	}
	var d decoder
	next := begin
	d.miss(begin)
	for i := range records {
		c := &records[i]
		if c.number > next {
			d.miss(c.number - next)
		}
		next = c.number + 1
		if err := d.take(&c.record, s.entry); err != nil {
			return err
		}
	}
	d.miss(end - next)
	if err := d.tellLost(s.entry); err != nil {
		return err
	}
	return s.end(remark)
}

// copyRing copies the records that lie in the ring, of those from begin to end.
func (r *Recorder) copyRing() (records []copied, begin, end uint64) {
	r.readMu.Lock()
	defer r.readMu.Unlock()
	end = r.ring.cursor.Load()
	begin = r.ring.oldest(end)
	records = make([]copied, 0, end-begin)
	patience := patience(10)
	for n := begin; n < end; n++ {
		c := copied{number: n}
		if r.ring.readSoon(n, &c.record, &patience) == have {
			records = append(records, c)
		}
	}
	return records, begin, end
}
