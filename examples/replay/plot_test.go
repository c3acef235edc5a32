package main

import (
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rdmagate/rdmagate/cc"
	"github.com/rdmagate/rdmagate/cc/recorder"
)

// pixels counts the pixels of each colour.
func pixels(t *testing.T, file string) (map[color.NRGBA]int, image.Rectangle) {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	require.NoError(t, err)
	found := map[color.NRGBA]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			found[color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)]++
		}
	}
	return found, img.Bounds()
}

// A plot shows what there was: each state in its colour, the window, and the answers.
func TestPlot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "outage.png")
	status, stdout, stderr := call(t, "", "-plot", file, outage)
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "2 routes of testdata/outage.scenario")
	found, size := pixels(t, file)
	assert.Equal(t, image.Point{X: 1058, Y: 510}, size.Size(), "28 x 13.5 cm at 96 dpi")
	area := size.Dx() * size.Dy()
	assert.Less(t, found[color.NRGBA{255, 255, 255, 255}], area*2/3, "it is not blank")
	assert.Greater(t, found[stateColours[cc.Quarantined]], area/10, "most of the time one of two routes is quarantined")
	assert.Greater(t, found[stateColours[cc.Healthy]], area/10)
	for _, c := range []color.NRGBA{stateColours[cc.Suspect], windowColour, answerColours[cc.Admit], answerColours[cc.Defer]} {
		assert.Greater(t, found[c], 50, "%v", c)
	}

	one := filepath.Join(t.TempDir(), "one.png")
	status, stdout, _ = call(t, "", "-plot", one, "-routes", "1", outage)
	require.Zero(t, status)
	assert.Contains(t, stdout, "1 route of testdata/outage.scenario, the most eventful; not drawn: side-path\n")
	less, small := pixels(t, one)
	assert.Less(t, small.Dy(), size.Dy())
	assert.Greater(t, less[stateColours[cc.Quarantined]], area/10)

	// With a threshold that is not reached there is no quarantine to be seen but in the legend.
	status, _, _ = call(t, "", "-plot", one, "-set", "hard_error_threshold=9", outage)
	require.Zero(t, status)
	calm, _ := pixels(t, one)
	assert.Less(t, calm[stateColours[cc.Quarantined]], area/100)
	assert.Less(t, calm[answerColours[cc.Avoid]], found[answerColours[cc.Avoid]])
}

func TestPlotAsSVG(t *testing.T) {
	file := filepath.Join(t.TempDir(), "outage.SVG")
	status, _, stderr := call(t, "", "-plot", file, outage)
	require.Zero(t, status, stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		if _, err = d.Token(); err != nil {
			break
		}
	}
	assert.ErrorIs(t, err, io.EOF, "it is well-formed")
	for _, word := range []string{"main-path", "side-path", "QUARANTINED ROUTE_TIMEOUT", "seconds, as the file has them"} {
		assert.Contains(t, string(text), word)
	}
}

func TestPlotOfOneCase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "case.png")
	_, stdout, _ := call(t, "", "-plot", file, "testdata/cases.scenario")
	assert.Contains(t, stdout, `case "a port" (2 more; -case chooses)`)
	_, stdout, _ = call(t, "", "-plot", file, "-case", "too much", "testdata/cases.scenario")
	assert.Contains(t, stdout, `case "too much"`)
	found, size := pixels(t, file)
	assert.Greater(t, found[stateColours[cc.Congested]], size.Dx()*size.Dy()/10)
	status, _, stderr := call(t, "", "-plot", file, "-case", "too mch", "testdata/cases.scenario")
	assert.Equal(t, exitTrouble, status)
	assert.Contains(t, stderr, `did you mean "too much"?`)
	_, _, stderr = call(t, "", "-plot", file, "-case", "a receiver that is not ready", "testdata/cases.scenario")
	assert.Contains(t, stderr, "all of it happens at one moment")
	status, _, stderr = call(t, "scenario 1\nadvance 1s\n", "-plot", file, "-")
	assert.Equal(t, exitTrouble, status)
	assert.Contains(t, stderr, "nothing to draw")
}

func TestPlotOfARecording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "incident.png")
	status, stdout, stderr := call(t, "", "-plot", file, "-routes", "3", recording(t, recorder.Binary, 20_000))
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "the most eventful; not drawn: r")
	found, size := pixels(t, file)
	assert.Greater(t, found[stateColours[cc.Quarantined]], size.Dx()*size.Dy()/100)
	assert.Greater(t, found[answerColours[cc.Avoid]], 100)
}
