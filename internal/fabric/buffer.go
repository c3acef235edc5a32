package fabric

// limit returns how many bytes of the shared buffer one port may hold now.
func (w *Switch) limit() int64 {
	if w.xoff > 0 {
		return w.xoff
	}
	return int64(w.alpha * float64(w.shared-w.used))
}

// admit finds room for a data packet, or says that there is none. In a lossless
// switch it asks the neighbour for a pause when the port is at its limit.
func (w *Switch) admit(k *packet, in, out *Port) bool {
	size := int64(k.wire)
	limit, free := w.limit(), w.shared-w.used
	if w.lossy {
		if size > free || out.data.bytes+size > limit {
			return false
		}
		w.used += size
		return true
	}
	k.in = in
	if in.held+size <= limit && size <= free {
		in.held += size
		w.used += size
		return true
	}
	if in.over+size > in.headroom {
		return false
	}
	in.over += size
	in.want(true)
	return true
}

// release gives back the room of a packet that leaves: the headroom's first.
func (w *Switch) release(k *packet) {
	size := int64(k.wire)
	in := k.in
	if in == nil {
		w.used -= size
		return
	}
	k.in = nil
	over := min(in.over, size)
	in.over -= over
	in.held -= size - over
	w.used -= size - over
	if in.wanted && in.over == 0 && w.resumes(in.held) {
		in.want(false)
	}
}

// resumes says whether a port that holds so much may have its neighbour go on.
func (w *Switch) resumes(held int64) bool {
	if w.xoff > 0 {
		return held < w.xon
	}
	return held == 0 || held+w.hystere <= w.limit()
}
