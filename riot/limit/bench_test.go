package limit

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// idle is a limiter whose limits never bind.
func idle(b *testing.B, used int) (*Limiter, *host) {
	l := New(Options{})
	p, err := l.Acquire(context.Background(), bulk(""))
	if err != nil {
		b.Fatal(err)
	}
	p.Done(200, headersOf("X-App-Rate-Limit", "1000000000:10,30000:600", "X-App-Rate-Limit-Count", "1:10,1:600",
		"X-Method-Rate-Limit", "2000:10", "X-Method-Rate-Limit-Count", "1:10"))
	h := l.hosts[testHost]
	now := l.now()
	for i := range used {
		h.app.own = append(h.app.own, now-time.Duration(used-i)*10*time.Millisecond)
	}
	return l, h
}

// BenchmarkPermit is a call's whole life without waiting, beside an empty log
// and one of 29,000 calls.
func BenchmarkPermit(b *testing.B) {
	good := headersOf("X-App-Rate-Limit", "1000000000:10,30000:600", "X-App-Rate-Limit-Count", "1:10,1:600",
		"X-Method-Rate-Limit", "2000:10", "X-Method-Rate-Limit-Count", "1:10")
	for name, used := range map[string]int{"empty": 0, "29000 calls": 29000} {
		b.Run(name, func(b *testing.B) {
			l, _ := idle(b, used)
			b.ReportAllocs()
			for b.Loop() {
				p, err := l.Acquire(context.Background(), bulk(""))
				if err != nil {
					b.Fatal(err)
				}
				p.Done(200, good)
				p.unspend() // keep the log as it was
			}
		})
	}
}

// BenchmarkRefusal is a dispatcher's question that is answered no.
func BenchmarkRefusal(b *testing.B) {
	for name, used := range map[string]int{"100": 100, "30000": 30000} {
		b.Run(name, func(b *testing.B) {
			l, h := idle(b, used)
			h.app.learn([]Limit{{used, 10 * time.Minute}})
			h.backlog = used*3 + used/2
			b.ReportAllocs()
			for b.Loop() {
				l.Admit(bulk("x"))
				l.Withdraw("x")
			}
		})
	}
}

// measured is a line of TestBudget's log.
var measured = regexp.MustCompile(`TestBudget/(dev_key,_one_account|production_key,_steady)/(lazy|sliding)\n[^\n]*: ([0-9.]+) % of the bound`)

// BenchmarkBudget prints the share of the rate budget that is used on a strict
// server, as TestBudget measures it: in virtual time, which only a test has.
// Targets: 99.5 % on a development key, 98.5 % on 500:10.
func BenchmarkBudget(b *testing.B) {
	for b.Loop() {
		out, err := exec.Command(os.Args[0], "-test.run=^TestBudget$", "-test.v").CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		found := measured.FindAllSubmatch(out, -1)
		if len(found) == 0 {
			b.Fatalf("TestBudget told nothing: %s", out)
		}
		for _, m := range found {
			share, err := strconv.ParseFloat(string(m[3]), 64)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(share, "%-"+string(m[1])+"/"+string(m[2]))
		}
	}
	b.ReportMetric(0, "ns/op")
}
