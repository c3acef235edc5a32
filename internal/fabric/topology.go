package fabric

import "fmt"

// Topology says how many NICs there are and how switches join them. Make one with
// [Star], [LeafSpine] or [FatTree].
type Topology struct {
	nics  int
	build func(*Sim)
}

// Star is one switch with n NICs.
func Star(n int) Topology {
	if n < 1 {
		return Topology{}
	}
	return Topology{nics: n, build: func(s *Sim) {
		w := s.newSwitch("switch")
		for i, nic := range s.nics {
			w.to[i] = w.group(s.attach(nic, w))
		}
	}}
}

// LeafSpine is so many leaves with perLeaf NICs each, all joined to all spines.
func LeafSpine(leaves, spines, perLeaf int) Topology {
	if min(leaves, spines, perLeaf) < 1 {
		return Topology{}
	}
	return Topology{nics: leaves * perLeaf, build: func(s *Sim) {
		var leaf, spine []*Switch
		for i := range leaves {
			w := s.newSwitch(fmt.Sprint("leaf", i))
			leaf = append(leaf, w)
			s.attachRange(w, i*perLeaf, perLeaf)
		}
		for i := range spines {
			spine = append(spine, s.newSwitch(fmt.Sprint("spine", i)))
		}
		s.mesh(leaf, spine, perLeaf)
	}}
}

// FatTree is the three-stage fat tree of switches with k ports, k even: k pods of k/2
// edge and k/2 aggregation switches, k^2/4 core switches, k^3/4 NICs.
func FatTree(k int) Topology {
	if k < 2 || k%2 != 0 {
		return Topology{}
	}
	half := k / 2
	return Topology{nics: k * half * half, build: func(s *Sim) {
		var aggs []*Switch // by pod
		for pod := range k {
			var edge, agg []*Switch
			for i := range half {
				w := s.newSwitch(fmt.Sprint("edge", pod*half+i))
				edge = append(edge, w)
				s.attachRange(w, (pod*half+i)*half, half)
			}
			for i := range half {
				agg = append(agg, s.newSwitch(fmt.Sprint("agg", pod*half+i)))
			}
			s.mesh(edge, agg, half)
			aggs = append(aggs, agg...)
		}
		// The i-th aggregation switch of each pod goes to the i-th row of cores.
		ups := make([][]*Port, len(aggs))
		for i := range half {
			for j := range half {
				core := s.newSwitch(fmt.Sprint("core", i*half+j))
				for pod := range k {
					up, down := s.trunk(aggs[pod*half+i], core)
					ups[pod*half+i] = append(ups[pod*half+i], up)
					core.toRange(core.group(down), pod*half*half, half*half)
				}
			}
		}
		for i, agg := range aggs {
			group := agg.group(ups[i]...)
			pod := i / half
			for nic := range agg.to {
				if nic/(half*half) != pod {
					agg.to[nic] = group
				}
			}
		}
	}}
}

// attachRange joins count NICs, from number first on, to a switch.
func (s *Sim) attachRange(w *Switch, first, count int) {
	for nic := first; nic < first+count; nic++ {
		w.to[nic] = w.group(s.attach(s.nics[nic], w))
	}
}

// toRange sends what goes to count NICs, from number first on, to a group.
func (w *Switch) toRange(group uint16, first, count int) {
	for nic := first; nic < first+count; nic++ {
		w.to[nic] = group
	}
}

// mesh joins all of lower to all of upper. Lower switches have perLeaf NICs each and
// send all else up; upper ones learn the way down.
func (s *Sim) mesh(lower, upper []*Switch, perLeaf int) {
	for _, l := range lower {
		first := int(l.ports[0].peer.nic.id)
		var ups []*Port
		for _, u := range upper {
			up, down := s.trunk(l, u)
			ups = append(ups, up)
			u.toRange(u.group(down), first, perLeaf)
		}
		group := l.group(ups...)
		for nic := range l.to {
			if nic < first || nic >= first+perLeaf {
				l.to[nic] = group
			}
		}
	}
}
