package key

import "strconv"

// A job id is the decimal number of a sequence, led by a letter that tells how many digits
// follow: a7, b12, c812. It is short enough to type and sorts as text in the order of creation.

// JobID is the id of the job with a number.
func JobID(n uint64) string {
	var b [21]byte
	digits := strconv.AppendUint(b[1:1], n, 10)
	b[0] = idLetter(len(digits))
	return string(b[:1+len(digits)])
}

func idLetter(digits int) byte { return 'a' + byte(digits) - 1 }

// JobNumber is the opposite of JobID; ok is false for what no job can be called.
func JobNumber(id string) (n uint64, ok bool) {
	if len(id) < 2 || id[0] != idLetter(len(id)-1) || id[1] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(id[1:], 10, 64)
	return n, err == nil
}
