//go:build !linux

package softroce

import "errors"

func askQdisc(int) ([]byte, error) { return nil, errors.ErrUnsupported }
