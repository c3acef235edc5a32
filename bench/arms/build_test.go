package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Programs may differ in their tags and in nothing else.
func TestWithoutTags(t *testing.T) {
	with := func(settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26", Path: packagePath, Settings: settings}
	}
	cgo, race := debug.BuildSetting{Key: "CGO_ENABLED", Value: "1"}, debug.BuildSetting{Key: "-race", Value: "true"}
	tags := debug.BuildSetting{Key: "-tags", Value: offTag}
	assert.Equal(t, withoutTags(with(cgo)), withoutTags(with(tags, cgo)))
	assert.NotEqual(t, withoutTags(with(cgo)), withoutTags(with(tags, cgo, race)))
	assert.NotEqual(t, program("x", true), program("x", false))
}
