package live_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rdmagate/rdmagate/examples/top/internal/looks"
	"github.com/rdmagate/rdmagate/examples/top/live"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHandler(t *testing.T) {
	_, h := looks.Many()
	mux := http.NewServeMux()
	mux.Handle("/debug/rdmagate/", http.StripPrefix("/debug/rdmagate", h))
	ask := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w
	}
	page := ask("GET", "/debug/rdmagate/")
	assert.Equal(t, http.StatusOK, page.Code)
	assert.Equal(t, "text/html; charset=utf-8", page.Header().Get("Content-Type"))
	assert.Contains(t, page.Header().Get("Content-Security-Policy"), "default-src 'none'")
	assert.NotRegexp(t, `(src|href)="(https?:)?//|url\(|@import`, page.Body.String(), "a page that is whole")

	tests := []struct {
		query  string
		status int
		routes int
	}{
		{"", 200, 200}, {"?routes=7", 200, 7}, {"?routes=0&transitions=0", 200, 0}, {"?routes=10000", 200, 5000},
		{"?routes=-1", 400, 0}, {"?routes=10001", 400, 0}, {"?transitions=x", 400, 0}, {"?routes=1e3", 400, 0},
	}
	for _, tt := range tests {
		answer := ask("GET", "/debug/rdmagate/state.json"+tt.query)
		require.Equal(t, tt.status, answer.Code, tt.query)
		assert.Equal(t, "no-store", answer.Header().Get("Cache-Control"))
		if tt.status == 200 {
			var s live.State
			require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &s))
			assert.Len(t, s.Routes, tt.routes, tt.query)
			assert.Equal(t, 5000, s.RouteCount())
		}
	}
	assert.Equal(t, http.StatusNotFound, ask("GET", "/debug/rdmagate/other").Code)
	assert.Equal(t, http.StatusMethodNotAllowed, ask("POST", "/debug/rdmagate/state.json").Code)
	assert.Equal(t, http.StatusMovedPermanently/100, ask("GET", "/debug/rdmagate").Code/100, "to the page, with a slash")
	assert.Equal(t, http.StatusOK, ask("HEAD", "/debug/rdmagate/state.json").Code)
}
