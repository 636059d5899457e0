package storage

import (
	"github.com/farsight-console/farsight/engine/league"
	"github.com/farsight-console/farsight/storage/internal/rec"
)

func matchRecord(m league.Match) *rec.Enc {
	e := rec.NewEnc(fMatch, 160+len(m.Match.LastError)+len(m.Timeline.LastError))
	encodeFetch(e, m.Match)
	encodeFetch(e, m.Timeline)
	e.Time(m.Played)
	e.Dur(m.Duration)
	e.Int(int64(m.QueueID))
	e.Str(m.Mode)
	e.Str(m.Patch)
	e.Bool(m.Aborted)
	e.Bool(m.Remake)
	e.Int(int64(m.Participants))
	e.Time(m.Listed)
	if m.Match.Cancelled != league.NotCancelled || m.Timeline.Cancelled != league.NotCancelled {
		e.Byte(byte(m.Match.Cancelled))
		e.Byte(byte(m.Timeline.Cancelled))
	}
	return e
}

func encodeFetch(e *rec.Enc, f league.Fetch) {
	e.Byte(byte(f.Status))
	e.Int(int64(f.Attempts))
	e.Time(f.FetchedAt)
	e.Time(f.LastAttemptAt)
	e.Str(f.LastError)
	e.Str(f.LastClass)
	e.Str(f.Ref.Month)
	e.Str(f.Ref.Codec)
	e.Int(int64(f.Ref.Size))
	e.Int(int64(f.Ref.RawLen))
	e.Uint(uint64(f.Ref.CRC))
}

func decodeMatch(k, v []byte) (m league.Match, err error) {
	d, err := tMatches.open(k, v, fMatch)
	if err != nil {
		return m, err
	}
	m.ID = string(k)
	m.Match, m.Timeline = decodeFetch(d), decodeFetch(d)
	m.Played, m.Duration, m.QueueID = d.Time(), d.Dur(), d.Num()
	m.Mode, m.Patch = d.Str(), d.Str()
	m.Aborted, m.Remake = d.Bool(), d.Bool()
	m.Participants, m.Listed = d.Num(), d.Time()
	if d.More() {
		m.Match.Cancelled, m.Timeline.Cancelled = league.Cancel(d.Byte()), league.Cancel(d.Byte())
	}
	return m, tMatches.done(k, d)
}

func decodeFetch(d *rec.Dec) league.Fetch {
	f := league.Fetch{
		Status: league.Status(d.Byte()), Attempts: d.Num(), FetchedAt: d.Time(), LastAttemptAt: d.Time(),
		LastError: d.Str(), LastClass: d.Str(),
	}
	f.Ref = league.PayloadRef{Month: d.Str(), Codec: d.Str(), Size: d.Num(), RawLen: d.Num(), CRC: uint32(d.Uint())}
	return f
}

func seatsRecord(ps []league.Participant) *rec.Enc {
	e := rec.NewEnc(fSeats, 128*len(ps)+2)
	e.Uint(uint64(len(ps)))
	for _, p := range ps {
		e.Int(int64(p.Index))
		e.Str(p.PUUID)
		e.Str(p.RiotID)
		e.Str(p.Champion)
		e.Int(int64(p.Team))
		e.Bool(p.Won)
		e.Int(int64(p.Kills))
		e.Int(int64(p.Deaths))
		e.Int(int64(p.Assists))
	}
	return e
}

func decodeSeat(d *rec.Dec, match string) league.Participant {
	return league.Participant{
		Match: match, Index: d.Num(), PUUID: d.Str(), RiotID: d.Str(), Champion: d.Str(), Team: d.Num(), Won: d.Bool(),
		Kills: d.Num(), Deaths: d.Num(), Assists: d.Num(),
	}
}
