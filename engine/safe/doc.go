// Package safe cleans text that came from outside (player names, API bodies,
// headers, files, the environment) at every exit: screen, log, command
// output, CSV, JSON. Text is stored as it was received; only exits clean it.
//
// What is dangerous is not dropped but shown: a right-to-left override reads
// ‹U+202E›, a broken byte \xff, a line break ⏎. Clean text has
//
//   - no C0, C1 or DEL, so no terminal sequence of any kind;
//   - no bidi control, zero-width character, tag or filler;
//   - at most two combining marks on a letter, composed (NFC);
//   - one width: the sum of its runes (wcwidth) equals the width of its
//     grapheme clusters, so a row is as wide on every terminal.
//
// All functions are idempotent. Plain ASCII costs one scan and no allocation.
package safe
