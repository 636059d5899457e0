package engine

import (
	"context"
	"encoding/json"
	"fmt"
)

// LoadStored reads what SaveStored keeps under a name; where there is nothing, known is false and into stays as it is.
func LoadStored(ctx context.Context, from interface {
	LoadState(ctx context.Context, name string) ([]byte, error)
}, name string, into any) (known bool, err error) {
	blob, err := from.LoadState(ctx, name)
	if err != nil || blob == nil {
		return false, err
	}
	if err := json.Unmarshal(blob, into); err != nil {
		return false, fmt.Errorf("decode the stored %s: %w", name, err)
	}
	return true, nil
}

// SaveStored keeps a value under a name, as JSON, in the place of the one before.
func SaveStored(ctx context.Context, in interface {
	SaveState(ctx context.Context, name string, blob []byte) error
}, name string, v any) error {
	blob, err := json.Marshal(v)
	if err == nil {
		err = in.SaveState(ctx, name, blob)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", name, err)
	}
	return nil
}
