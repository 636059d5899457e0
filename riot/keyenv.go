package riot

// Environ gives the key as an entry of the environment of a process of ours, which
// unsets it once it has read it. It is the only way out for a key besides the wire;
// "" for no key.
func (k Key) Environ(name string) string {
	if k.IsZero() {
		return ""
	}
	return name + "=" + k.value()
}
