package rail

import (
	"testing"

	"github.com/rdmagate/rdmagate/internal/enum/enumtest"
)

func TestEnumerationsAreTextInJSON(t *testing.T) {
	enumtest.RoundTrip(t, LinkEthernet)
	enumtest.RoundTrip(t, SamePosition)
	enumtest.RoundTrip(t, OtherSubnet)
	enumtest.RoundTrip(t, Paused)
	enumtest.RoundTrip(t, Found)
}
