// Package collection keeps typed collections in a bbolt file. A collection is declared once: the
// type of its values, what their key is made of, one function that names the fields of a record for
// both ways, the indexes that find a value, and the counters that it counts towards:
//
//	var accounts = collection.Declare(
//		collection.New("accounts", "id", "the account"),
//		collection.Records[league.Account]{
//			Format: 17, Key: accountKey, Fields: accountFields,
//			Indexes: []collection.Index[league.Account]{byName, byPUUID},
//			Counts:  func(*league.Account) []string { return []string{"accounts"} },
//		})
//
// Save, Drop, the removal of all that belongs to an owner, and Check follow from that: whoever
// saves an account does not name its indexes, and an index that is added to the declaration is
// written, removed and checked from then on.
//
// Rules:
//   - Every value has a checksum over table, key and body (package rec), which each read verifies.
//     A value that does not hold is *disk.ErrCorrupt.
//   - Index rows and counters are written in the transaction that writes the row which they follow
//     from.
//   - The package knows no account and no job. What the values mean, and what must hold between two
//     collections, is package storage's.
package collection
