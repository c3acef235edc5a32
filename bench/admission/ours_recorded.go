package main

import (
	"github.com/rdmagate/rdmagate/bench/internal/measure"
	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
)

// recording gives a controller a recorder of the usual size.
func recording() cc.Option { return cc.WithRecorder(recorder.New()) }

// recorded are permits whose calls are recorded: three records for each.
func recorded() []scenario {
	return []scenario{
		{kind: ours, note: "the same with a recorder: three records", Scenario: measure.Scenario{Name: oursEnforce + withRecorder, Workers: 1,
			Setup: func() ([]measure.Loop, func(), error) {
				list, err := endpoints(cc.Enforce, 1, recording)
				if err != nil {
					return nil, nil, err
				}
				return []measure.Loop{life(list[0], false)}, nil, nil
			}}},
		twoPermits(oursEnforce+withRecorder+ownRoutes, 2, false, recording),
	}
}
