package softroce

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

// fakeEmulator, when set in the environment, makes the test binary play the
// emulator with the agent in it. Its value says how it behaves.
const fakeEmulator = "SOFTROCE_FAKE_EMULATOR"

func TestMain(m *testing.M) {
	behaviour := os.Getenv(fakeEmulator)
	if behaviour == "" {
		os.Exit(m.Run())
	}
	if err := playEmulator(behaviour, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// playEmulator does what the behaviour says; its arguments are those of QEMU.
func playEmulator(behaviour string, args []string) error {
	if err := os.WriteFile(os.Getenv("SOFTROCE_FAKE_PID"), fmt.Append(nil, os.Getpid()), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(argPath(args, "file,id=console,path="), []byte("kernel says hello\r\n"), 0o644); err != nil {
		return err
	}
	switch behaviour {
	case "hang before boot":
		select {}
	case "fail":
		return errors.New("no such machine")
	}
	conn, err := net.Dial("unix", argPath(args, "socket,id=agent,path="))
	if err != nil {
		return err
	}
	_, payload, err := readFrame(conn)
	if err != nil {
		return err
	}
	var j job
	if err := json.Unmarshal(payload, &j); err != nil {
		return err
	}
	frames := &frameWriter{w: conn}
	switch behaviour {
	case "hang before command":
		select {}
	case "garbage":
		return frames.write('?', nil)
	case "refuse":
		return frames.writeJSON(frameExit, outcome{Error: "softroce: no device could be made"})
	}
	if err := frames.write(frameStarted, nil); err != nil {
		return err
	}
	switch behaviour {
	case "hang in command":
		select {}
	case "lost at first":
		// The file is there from the second guest on.
		first, err := os.OpenFile(os.Getenv("SOFTROCE_FAKE_PID")+".first", os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			return errors.Join(first.Close(), frames.write(frameStdout, []byte("half a line\n")))
		}
	case "no status":
		return frames.write(frameStdout, []byte("half a line"))
	}
	var result outcome
	if result.Status, err = j.Command.run(frames); err != nil {
		result.Error = err.Error()
	}
	if err := frames.writeJSON(frameExit, result); err != nil {
		return err
	}
	if _, _, err = readFrame(conn); err != nil {
		return err
	}
	if behaviour == "never power off" {
		select {}
	}
	return nil
}

// argPath returns the rest of the argument with the prefix.
func argPath(args []string, prefix string) string {
	for _, arg := range args {
		if path, found := strings.CutPrefix(arg, prefix); found {
			return path
		}
	}
	return ""
}
