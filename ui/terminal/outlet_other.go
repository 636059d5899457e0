//go:build !linux

package terminal

import (
	"errors"
	"os"
)

// reopen is not possible here: a terminal cannot be opened by its descriptor.
func reopen(*os.File) (*os.File, error) { return nil, errors.ErrUnsupported }

func discard(*os.File) {}
