// Package both is what the store in a directory and the one on PostgreSQL do alike: rules of what
// may be stored, and rows as consoles and exports show them, made of what is stored.
package both
