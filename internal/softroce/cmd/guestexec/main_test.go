package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	dir, err := os.Getwd()
	require.NoError(t, err)

	c, command, err := parse([]string{"-nics", "5", "-tries", "3", "-memory", "1024", "-cpus", "1", "-timeout", "90s", "-share", "out", "--", "./x.test", "-test.v"}, &bytes.Buffer{})
	require.NoError(t, err)
	assert.Equal(t, 5, c.NICs)
	assert.Equal(t, 3, c.Tries)
	assert.Equal(t, 1024, c.MemoryMiB)
	assert.Equal(t, 1, c.CPUs)
	assert.Equal(t, 90*time.Second, c.TimeLimit)
	assert.Equal(t, filepath.Join(dir, "out"), c.Share, "paths are absolute in the guest")
	assert.True(t, filepath.IsAbs(c.Agent))
	assert.NotNil(t, c.Progress)
	assert.Equal(t, []string{"./x.test", "-test.v"}, command.Args)
	assert.Equal(t, dir, command.Dir)

	// The form that go test uses has no separator.
	c, command, err = parse([]string{"-quiet", "/tmp/x.test", "-test.timeout=10m0s"}, &bytes.Buffer{})
	require.NoError(t, err)
	assert.Nil(t, c.Progress)
	assert.Equal(t, []string{"/tmp/x.test", "-test.timeout=10m0s"}, command.Args)
}

func TestRunRefusesBadUsage(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"no command", nil, "no command given"},
		{"only a separator", []string{"-nics", "1", "--"}, "no command given"},
		{"unknown flag", []string{"-kvm", "x"}, "-kvm"},
		{"bad number", []string{"-nics", "many", "x"}, "many"},
		{"too many NICs", []string{"-nics", "99", "x"}, "99 NICs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, exitUsage, run(tt.args, &stdout, &stderr))
			assert.Contains(t, stderr.String(), tt.want)
			assert.Empty(t, stdout.String())
		})
	}
	var stdout, stderr bytes.Buffer
	assert.Zero(t, run([]string{"-help"}, &stdout, &stderr), "asking for help is no failure")
	assert.Contains(t, stderr.String(), "usage: guestexec")
}
