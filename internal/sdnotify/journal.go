package sdnotify

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Priority is how grave a record of the journal is, as in syslog(3).
type Priority int

// The priorities in use.
const (
	Err     Priority = 3
	Warning Priority = 4
	Info    Priority = 6
	Debug   Priority = 7
)

// journalSocket is where journald takes records; tests have their own.
var journalSocket = "/run/systemd/journal/socket"

// JournalField is a field of a record, such as {"FARSIGHT_JOB", "17"}: capitals, digits
// and _ alone.
type JournalField struct{ Name, Value string }

// Journals reports whether the standard error of this process goes to systemd's journal:
// then its own protocol says more. Source: systemd.io/JOURNAL_NATIVE_PROTOCOL.
func Journals() bool {
	var dev, inode uint64
	if n, _ := fmt.Sscanf(os.Getenv("JOURNAL_STREAM"), "%d:%d", &dev, &inode); n != 2 {
		return false
	}
	return isStderr(dev, inode)
}

// Log sends a record to the journal. A journal that does not take it at once is left
// alone.
func Log(p Priority, message string, fields ...JournalField) error {
	var b bytes.Buffer
	add := func(name, value string) {
		if !strings.Contains(value, "\n") {
			fmt.Fprintf(&b, "%s=%s\n", name, value)
			return
		}
		b.WriteString(name + "\n")
		_ = binary.Write(&b, binary.LittleEndian, uint64(len(value)))
		b.WriteString(value + "\n")
	}
	add("MESSAGE", message)
	add("PRIORITY", strconv.Itoa(int(p)))
	add("SYSLOG_IDENTIFIER", "farsight")
	for _, f := range fields {
		add(f.Name, f.Value)
	}
	return send(journalSocket, b.Bytes())
}

// sendWait is how long systemd may take to accept a datagram.
const sendWait = 100 * time.Millisecond

// send is one datagram.
func send(path string, text []byte) error {
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetWriteDeadline(time.Now().Add(sendWait)); err != nil {
		return err
	}
	_, err = c.Write(text)
	return err
}
