package keyring

import (
	"fmt"
	"os"
	"strings"

	"github.com/farsight-console/farsight/engine/regular"
	"github.com/farsight-console/farsight/riot"
)

// maxFile is more than a file with a key and white space has.
const maxFile = 1 << 10

// fromEnv takes a key out of the environment: the variable is unset once read, so that no child
// process and no crash report inherits it. An unset or empty variable gives the zero Key.
func fromEnv(name string) (riot.Key, error) {
	value, _, _ := strings.Cut(os.Getenv(name), " #") // docker and systemd give a comment behind it, too
	if err := os.Unsetenv(name); err != nil {
		return riot.Key{}, fmt.Errorf("unset %s: %w", name, err)
	}
	if strings.TrimSpace(value) == "" {
		return riot.Key{}, nil
	}
	k, err := riot.ParseKey(value)
	if err != nil {
		return riot.Key{}, fmt.Errorf("%s: %w", name, err)
	}
	return k, nil
}

// FromFile reads a key from a file of which it is the only content. A file that others may read is
// refused: its key is no secret any more.
func FromFile(path string) (riot.Key, error) {
	text, err := regular.Secret(path, maxFile)
	if err != nil {
		return riot.Key{}, fmt.Errorf("the key file: %w", err)
	}
	k, err := riot.ParseKey(text)
	if err != nil {
		return riot.Key{}, fmt.Errorf("key file %s: %w", path, err)
	}
	return k, nil
}
