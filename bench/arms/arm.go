package main

import "github.com/rdmagate/rdmagate/cc"

// arm is a way to run the engine.
type arm struct {
	Name string
	// CompiledOut: by the program that was built with the tag rdmagate_off. Whatever the
	// mode is, it then has no effect.
	CompiledOut bool
	Mode        cc.Mode
}

// base is the arm that the others are compared with where a goal does not say something
// else.
const base = "compiled out"

// arms are the four.
var arms = []arm{
	{base, true, cc.Enforce},
	{"off", false, cc.Off},
	{"observe", false, cc.Observe},
	{"enforce", false, cc.Enforce},
}

// again is the first arm a second time.
var again = arm{"again", true, cc.Enforce}
