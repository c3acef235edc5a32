package recorder

// lost says that so many records are missing.
type lost struct{ Count uint64 }

// decoder turns records into calls.
type decoder struct {
	parts
	lost uint64 // not told of yet
}

// miss says that so many records are missing here.
func (d *decoder) miss(n uint64) {
	d.clear()
	d.lost += n
}

// take takes the next record, and tells what it says once all its parts are there, and
// before that what was lost.
func (d *decoder) take(r *record, tell func(entry any) error) error {
	if d.parts.take(r) {
		return nil
	}
	var entry any
	if r.follows(&d.parts) {
		entry = r.entry(&d.parts)
	} else {
		d.lost++
	}
	d.clear()
	if err := d.tellLost(tell); err != nil || entry == nil {
		return err
	}
	return tell(entry)
}

// tellLost tells what was lost since it last told.
func (d *decoder) tellLost(tell func(entry any) error) error {
	if d.lost == 0 {
		return nil
	}
	n := d.lost
	d.lost = 0
	return tell(lost{n})
}

// entry returns what a record says.
func (r *record) entry(p *parts) any {
	switch r.kind() {
	case acquireKind:
		return r.acquire(p)
	case postKind:
		return r.post()
	case unpostedKind:
		return r.unposted()
	case settleKind:
		return r.settle()
	case beatKind:
		return r.beat()
	case clockKind:
		return r.clock()
	case jitterKind:
		return r.jitter()
	case toldKind:
		return r.told()
	case syncedKind:
		return r.synced()
	case tickKind:
		return r.tick()
	case closeRouteKind:
		return CloseRoute{r.number()}
	case closeKind:
		return Close{}
	case closePollerKind:
		return ClosePoller{r.number()}
	case lookKind:
		return Look{r.number()}
	case unreachableKind:
		return r.unreachable()
	case renewKind:
		return r.renew(p)
	case routeKind:
		return r.route(p)
	case forgetKind:
		return r.forget(p)
	case eventKind:
		return r.event(p)
	case pollerKind:
		return r.poller(p)
	case dueKind:
		return r.due(p)
	}
	return nil
}
