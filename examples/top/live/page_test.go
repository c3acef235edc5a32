package live_test

import (
	"context"
	"errors"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rdmagate/rdmagate/examples/top/internal/looks"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browser returns the program to look at pages with. Without one a test is skipped, but
// where CI is set, which installs one, it fails.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	require.Empty(t, os.Getenv("CI"), "there is no browser: make deps installs chromium")
	t.Skip("NOT TESTED: there is no browser, so the page was not looked at; apt-get install chromium brings one")
	return ""
}

// visit lets a browser load a page and look twice, and returns what it says. The
// browser's clock jumps ahead while nothing is on its way, so that this takes no time.
func visit(t *testing.T, url string, flags ...string) string {
	t.Helper()
	program := browser(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	home := t.TempDir()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-background-networking",
		"--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir=" + home, "--virtual-time-budget=1500",
	}, flags...)
	cmd := exec.CommandContext(ctx, program, append(args, url)...)
	cmd.Env = append(os.Environ(), "HOME="+home)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Log(string(exit.Stderr))
	}
	require.NoError(t, err)
	return string(out)
}

// serve serves the first look once and the second one ever after.
func serve(t *testing.T, then, later http.Handler) (url string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := later
		if strings.HasSuffix(r.URL.Path, ".json") && asked.Add(1) == 1 {
			h = then
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/", asked
}

// The page shows what the terminal shows.
func TestPage(t *testing.T) {
	then, later := looks.Mixed()
	url, asked := serve(t, then, later)
	says(t, read(t, url),
		">enforce<", "2 devices, 8 routes", ">2</b>QUARANTINED", ">3</b>HEALTHY", "admit <b>4,000</b>", "defer <b>12,345</b> BYTE_WINDOW/route", "avoid <b>2</b>",
		"mlx5_0:1 → host-b/mlx5_0", "12 s left", "trial due", "on trial", "no endpoint", "20 of 64 MiB", "448 of 512 KiB", "3.1 GB/s",
		"no usable route on port 1", "no usable route on the port", "SUSPECT → ", "PATH_QUARANTINED", "18 s ago", "412 µs",
		"completion 12: RouteTimeout",
	)
	assert.Equal(t, int32(2), asked.Load(), "looks")
}

// Names are text, whatever is in them, and there may be thousands of routes.
func TestPageOfStrangeNames(t *testing.T) {
	h := looks.Markup()
	url, _ := serve(t, h, h)
	says(t, read(t, url), "&lt;script&gt;document.title=1&lt;/script&gt;", "<title>rdmagate</title>")

	then, later := looks.Many()
	url, _ = serve(t, then, later)
	says(t, read(t, url), "24 devices, 5,000 routes", "4,800 more routes")
}

// An engine that is gone leaves its last state on the page, which says so.
func TestPageOfALostEngine(t *testing.T) {
	then, _ := looks.Mixed()
	gone := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".json") {
			http.Error(w, "gone", http.StatusServiceUnavailable)
			return
		}
		then.ServeHTTP(w, r)
	})
	url, _ := serve(t, then, gone)
	says(t, read(t, url), `class="lost"`, "no answer for", "mlx5_0:1 → host-b/mlx5_0")
}

// read returns the page's document after two looks, without styles and scripts.
func read(t *testing.T, url string) string {
	t.Helper()
	return regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`).ReplaceAllString(visit(t, url, "--dump-dom"), "")
}

// says requires that all that is in a document, and that nothing went wrong there.
func says(t *testing.T, document string, all ...string) {
	t.Helper()
	for _, want := range all {
		assert.True(t, strings.Contains(document, want), "the page should have %q:\n%s", want, document)
	}
	assert.False(t, strings.Contains(document, "is not"), "an error of the page's script:\n%s", document)
}

// Pictures of the page, large and small, in bin/top: to be looked at by people.
func TestPagePictures(t *testing.T) {
	then, later := looks.Mixed()
	dir := filepath.Join("..", "..", "..", "bin", "top")
	browser(t)
	if testing.Short() {
		t.Skip("pictures are for people")
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, size := range map[string]string{"wide": "1280,900", "small": "420,900"} {
		url, _ := serve(t, then, later)
		file, err := filepath.Abs(filepath.Join(dir, name+".png"))
		require.NoError(t, err)
		require.NoError(t, os.RemoveAll(file))
		visit(t, url, "--window-size="+size, "--screenshot="+file)
		f, err := os.Open(file)
		require.NoError(t, err)
		picture, err := png.Decode(f)
		require.NoError(t, errors.Join(err, f.Close()))
		colours := map[[3]uint32]bool{}
		for x := range picture.Bounds().Dx() {
			for y := range picture.Bounds().Dy() {
				r, g, b, _ := picture.At(x, y).RGBA()
				colours[[3]uint32{r, g, b}] = true
			}
		}
		assert.Greater(t, len(colours), 20, "colours of %s: something was drawn", name)
		t.Log("look at", file)
	}
}
